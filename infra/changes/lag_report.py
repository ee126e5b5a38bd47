"""The lag as the compensator last saw it, written down in Redis for every process that shows it.

changes.lag:v1:{shard0}   {"at_s": Unix seconds, "lags": [Lag], "paused": [kind]}
"""

import time

import msgspec

from infra.caching.database_reports import DatabaseReports
from infra.changes.chores import chore
from infra.changes.lag import LaneLag, list_lane_lags
from infra.changes.pausing import list_pauses
from infra.sharding.placement import Placement

EVERY_S = 5
KEPT_S = 60


class LagReport(msgspec.Struct):
    """What waited on a database at that moment."""

    at_s: float
    lags: list[LaneLag]
    paused: list[str]


LAG = DatabaseReports("changes.lag:v1", LagReport, KEPT_S)


@chore(every_s=EVERY_S, placement=Placement.EVERYWHERE)
def report_lag(alias: str) -> None:
    """Writes down what waits on a database now. Two queries, one round trip.

    Raises: RedisError, what UNREACHABLE lists.
    """
    LAG.keep(alias, measure_lag(alias))


def measure_lag(alias: str) -> LagReport:
    """What waits on a database now. Two queries. Raises: what UNREACHABLE lists."""
    paused = [one.kind for one in list_pauses(alias) if not one.is_ending]
    return LagReport(time.time(), list_lane_lags(alias), paused)
