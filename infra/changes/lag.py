"""How far the drain is behind."""

from typing import NamedTuple

from infra.changes.lanes import all_lanes
from infra.sharding.sql import fetch_all

LAG = """
SELECT lane, count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1),
    coalesce(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE state = 0)), 0)
FROM changes_change GROUP BY lane
"""


class Lag(NamedTuple):
    alias: str
    lane: int
    pending: int
    parked: int
    oldest_s: float


def lag_of(alias: str) -> list[Lag]:
    """One entry per lane of this database. Cost: one query over undelivered rows only."""
    rows = {row[0]: row[1:] for row in fetch_all(alias, LAG)}
    return [
        Lag(alias, lane, pending, parked, float(oldest_s))
        for lane in sorted({*all_lanes(), *rows})
        for pending, parked, oldest_s in [rows.get(lane, (0, 0, 0))]
    ]
