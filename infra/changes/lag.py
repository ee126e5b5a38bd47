"""How far the drain is behind, and the report of it that the compensator writes to Redis.

changes.lag:v1:{shard0}   {"at_s": Unix seconds, "lags": [LaneLag], "paused": [kind]}
"""

import time
from typing import NamedTuple

import msgspec

from infra.caching.database_reports import DatabaseReports
from infra.changes.lanes import PAUSED_OFFSET, all_lanes
from infra.changes.pausing import list_pauses
from infra.sharding.sql import fetch_all

SELECT_LAG = f"""
SELECT lane %% {PAUSED_OFFSET}, count(*) FILTER (WHERE state = 0 AND lane < {PAUSED_OFFSET}),
    count(*) FILTER (WHERE state = 1),
    coalesce(extract(epoch FROM clock_timestamp()
        - min(created_at) FILTER (WHERE state = 0 AND lane < {PAUSED_OFFSET})), 0),
    count(*) FILTER (WHERE state = 0 AND lane >= {PAUSED_OFFSET})
FROM changes_change GROUP BY 1
"""  # noqa: S608 - of a constant


class LaneLag(NamedTuple):
    """The undelivered rows of one lane. `paused`: rows of paused kinds; `pending` excludes them."""

    alias: str
    lane: int
    pending: int
    parked: int
    oldest_s: float
    paused: int = 0


def list_lane_lags(alias: str) -> list[LaneLag]:
    """One entry for each lane of this database. Cost: one query of undelivered rows."""
    rows = {row[0]: row[1:] for row in fetch_all(alias, SELECT_LAG)}
    return [
        LaneLag(alias, lane, pending, parked, float(oldest_s), paused)
        for lane in sorted({*all_lanes(), *rows})
        for pending, parked, oldest_s, paused in [rows.get(lane, (0, 0, 0, 0))]
    ]


TTL_S = 60


class LagReport(msgspec.Struct):
    """The lag of one database at `at_s`, and its paused kinds."""

    at_s: float
    lags: list[LaneLag]
    paused: list[str]


LAG = DatabaseReports("changes.lag:v1", LagReport, TTL_S)


def report_lag(alias: str) -> None:
    """Writes the lag of one database to Redis. Cost: two queries, one round trip.

    Raises: RedisError, errors of UNREACHABLE.
    """
    LAG.store(alias, measure_lag(alias))


def measure_lag(alias: str) -> LagReport:
    """The lag of one database now. Two queries. Raises: errors of UNREACHABLE."""
    paused = [pause.kind for pause in list_pauses(alias) if not pause.is_ending]
    return LagReport(time.time(), list_lane_lags(alias), paused)
