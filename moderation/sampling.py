"""Samples of moderation for /metrics: the moderators' queue, and the decisions taken so far.

    moderation.queue:v1:{default}       a QueueSample as JSON
    moderation.decisions:v1:{default}   decisions counted:DecisionCounts as JSON

The compensator writes both to Redis (moderation/periodic.py); web processes read them at a scrape.
"""

from pathlib import Path

import msgspec

from accounts.sql import RESTRICTED_USERS
from accounts.types import Restriction
from infra.caching.client import redis
from infra.caching.database_reports import DatabaseReports
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.scripts import load_script
from infra.caching.values import NEWER
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one
from moderation.types import AppealState, ReportState

TTL_S = 86_400
# Both use an index of the state.
REPORTS = """
SELECT count(*), extract(epoch FROM min(created_at))::float8 FROM moderation_report
WHERE state = %s
"""
APPEALS = "SELECT count(*) FROM moderation_appeal WHERE state = %s"
# The label of each restriction. A purged account also is SUSPENDED, but counts as purged only:
# moderators cannot decide on it.
LABELS = {
    "limited": Restriction.LIMITED,
    "frozen": Restriction.FROZEN,
    "suspended": Restriction.SUSPENDED,
    "purged": Restriction.PURGED,
}
KEEP_HIGHER = load_script(NEWER, Path(__file__).with_name("keep_higher.lua"))
DECISIONS_KEY = key("moderation.decisions:v1", GLOBAL_ALIAS)
# Rows a sample, so that changes do not wait for it. Only after a flush of Redis there are so many.
MOST = 100_000
# By the primary key.
NEW_DECISIONS = """
WITH new AS MATERIALIZED (
    SELECT id, kind, created_at FROM moderation_decision WHERE id > %s ORDER BY id LIMIT %s
), settled AS (
    SELECT coalesce(max(id), 0) AS id FROM new WHERE created_at < now() - interval '1 hour'
)
SELECT kind, count(*), count(*) FILTER (WHERE new.id <= settled.id), settled.id
FROM new CROSS JOIN settled GROUP BY kind, settled.id
"""


class QueueSample(msgspec.Struct):
    """The moderators' queue at one moment.

    `oldest_report_at_s`: Unix seconds; None without an open report. `restricted`: accounts by
    label; no label is missing.
    """

    open_reports: int
    oldest_report_at_s: float | None
    pending_appeals: int
    restricted: dict[str, int]


class DecisionCounts(msgspec.Struct, frozen=True):
    """Decisions by kind. Rows are never deleted, so counts only grow.

    `settled`: the counts of the rows up to `settled_id`, which are not read again. `counts`: of all
    rows read so far; of all rows in the table if `is_whole`. Else the next sample continues.
    """

    settled_id: int = 0
    settled: dict[str, int] = {}
    counts: dict[str, int] = {}
    is_whole: bool = False


QUEUE = DatabaseReports("moderation.queue:v1", QueueSample, TTL_S)


def sample_queue(_alias: str) -> None:
    """Writes the current queue to Redis. Three queries, one round trip. Raises: RedisError."""
    QUEUE.store(GLOBAL_ALIAS, read_queue())


def read_queue() -> QueueSample:
    """The queue as the tables have it. Three queries by index."""
    reports = fetch_one(GLOBAL_ALIAS, REPORTS, (ReportState.OPEN,))
    appeals = fetch_one(GLOBAL_ALIAS, APPEALS, (AppealState.PENDING,))
    assert reports is not None  # noqa: S101 - an aggregate has one row
    assert appeals is not None  # noqa: S101
    accounts = {Restriction(row[0]): row[1] for row in fetch_all(GLOBAL_ALIAS, RESTRICTED_USERS)}
    return QueueSample(reports[0], reports[1], appeals[0], _count_by_label(accounts))


def sample_decisions(_alias: str) -> None:
    """Adds the new decisions to the counts in Redis.

    Cost: one query of the last hour's decisions, two round trips. Raises: RedisError.
    """
    store_counts(count_since(read_decision_counts()))


def read_decision_counts() -> DecisionCounts:
    """The last sample; empty and not whole without one. One round trip. Raises: RedisError."""
    raw = redis().call("GET", DECISIONS_KEY)
    return decode("moderation.decisions", _decode_counts, raw) or DecisionCounts()


def _decode_counts(raw: bytes) -> DecisionCounts:
    return msgspec.json.decode(raw.split(b":", 1)[1], type=DecisionCounts)


def count_since(last: DecisionCounts) -> DecisionCounts:
    """The counts with the rows after `last.settled_id`. One query of at most MOST rows.

    A row gets its id before its transaction commits, so a row can appear below an id that was
    counted already. Rows therefore settle an hour after they were created, and until then each
    sample counts them again. No transaction of a decision lasts an hour.
    """
    settled_id, settled, counts, unsettled = last.settled_id, {**last.settled}, {**last.settled}, 0
    for kind, new, old, last_id in fetch_all(GLOBAL_ALIAS, NEW_DECISIONS, (settled_id, MOST)):
        counts[kind] = counts.get(kind, 0) + new
        settled[kind] = settled.get(kind, 0) + old
        settled_id = max(settled_id, last_id)
        unsettled += new
    return DecisionCounts(settled_id, settled, counts, is_whole=unsettled < MOST)


def store_counts(counted: DecisionCounts) -> None:
    """Writes the counts, unless Redis has higher ones from another compensator.

    Prometheus takes a counter that falls for a restarted one, and would add all decisions again.
    """
    version, payload = sum(counted.counts.values()), msgspec.json.encode(counted)
    redis().call(*KEEP_HIGHER.on([DECISIONS_KEY], version, payload, TTL_S * 1000))


def _count_by_label(accounts: dict[Restriction, int]) -> dict[str, int]:
    counts = dict.fromkeys(LABELS, 0)
    for restrictions, count in accounts.items():
        shown = restrictions
        if Restriction.PURGED in restrictions:
            shown &= ~Restriction.SUSPENDED
        for label, restriction in LABELS.items():
            counts[label] += count if restriction in shown else 0
    return counts
