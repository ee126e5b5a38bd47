"""How far the drain is behind."""

from typing import NamedTuple

from infra.changes.lanes import PAUSED_OFFSET, all_lanes
from infra.sharding.sql import fetch_all

LAG = f"""
SELECT lane %% {PAUSED_OFFSET}, count(*) FILTER (WHERE state = 0 AND lane < {PAUSED_OFFSET}),
    count(*) FILTER (WHERE state = 1),
    coalesce(extract(epoch FROM clock_timestamp()
        - min(created_at) FILTER (WHERE state = 0 AND lane < {PAUSED_OFFSET})), 0),
    count(*) FILTER (WHERE state = 0 AND lane >= {PAUSED_OFFSET})
FROM changes_change GROUP BY 1
"""  # noqa: S608 - of a constant


class LaneLag(NamedTuple):
    """Of one lane. `paused`: rows held back because their kind is, not among the pending here."""

    alias: str
    lane: int
    pending: int
    parked: int
    oldest_s: float
    paused: int = 0


def list_lane_lags(alias: str) -> list[LaneLag]:
    """One entry per lane of this database. Cost: one query over undelivered rows only."""
    rows = {row[0]: row[1:] for row in fetch_all(alias, LAG)}
    return [
        LaneLag(alias, lane, pending, parked, float(oldest_s), paused)
        for lane in sorted({*all_lanes(), *rows})
        for pending, parked, oldest_s, paused in [rows.get(lane, (0, 0, 0, 0))]
    ]
