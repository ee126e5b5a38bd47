"""How much waits for moderators, looked at by the compensator now and then.

moderation.queue:v1:{default}   a Queue as JSON
"""

import msgspec

from accounts.types import Restriction
from infra.caching.database_reports import DatabaseReports
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one
from moderation.types import AppealState, ReportState

KEPT_S = 86_400
# Each by an index of what is open, or restricted, alone.
REPORTS = """
SELECT count(*), extract(epoch FROM min(created_at))::float8 FROM moderation_report
WHERE state = %s
"""
APPEALS = "SELECT count(*) FROM moderation_appeal WHERE state = %s"
RESTRICTED = "SELECT restrictions, count(*) FROM accounts_user WHERE restrictions <> 0 GROUP BY 1"
# Whose purge began is suspended for good, and no longer anybody's to judge.
SHOWN = {
    "limited": Restriction.LIMITED,
    "frozen": Restriction.FROZEN,
    "suspended": Restriction.SUSPENDED,
    "purged": Restriction.PURGED,
}


class QueueSample(msgspec.Struct):
    """`oldest_report_at_s`: Unix seconds; None without an open one. `restricted`: accounts by name
    of a restriction, all names present; suspended without the purged."""

    open_reports: int
    oldest_report_at_s: float | None
    pending_appeals: int
    restricted: dict[str, int]


QUEUE = DatabaseReports("moderation.queue:v1", QueueSample, KEPT_S)


def sample_queue(_alias: str) -> None:
    """Cost: three queries of what is open or restricted, one round trip. Raises: RedisError."""
    QUEUE.keep(GLOBAL_ALIAS, read_queue())


def read_queue() -> QueueSample:
    """As it is now. Three queries."""
    reports = fetch_one(GLOBAL_ALIAS, REPORTS, (ReportState.OPEN,))
    appeals = fetch_one(GLOBAL_ALIAS, APPEALS, (AppealState.PENDING,))
    assert reports is not None  # noqa: S101 - an aggregate has one row
    assert appeals is not None  # noqa: S101
    held = {Restriction(row[0]): row[1] for row in fetch_all(GLOBAL_ALIAS, RESTRICTED)}
    return QueueSample(reports[0], reports[1], appeals[0], _by_name(held))


def _by_name(held: dict[Restriction, int]) -> dict[str, int]:
    counts = dict.fromkeys(SHOWN, 0)
    for restrictions, count in held.items():
        shown = restrictions
        if Restriction.PURGED in restrictions:
            shown &= ~Restriction.SUSPENDED
        for name, one in SHOWN.items():
            counts[name] += count if one in shown else 0
    return counts
