"""How far the drain is behind."""

from typing import NamedTuple

from infra.changes.lanes import HELD, all_lanes
from infra.sharding.sql import fetch_all

LAG = f"""
SELECT lane %% {HELD}, count(*) FILTER (WHERE state = 0 AND lane < {HELD}),
    count(*) FILTER (WHERE state = 1),
    coalesce(extract(epoch FROM clock_timestamp()
        - min(created_at) FILTER (WHERE state = 0 AND lane < {HELD})), 0),
    count(*) FILTER (WHERE state = 0 AND lane >= {HELD})
FROM changes_change GROUP BY 1
"""  # noqa: S608 - of a constant


class Lag(NamedTuple):
    """Of one lane. `paused`: rows held back because their kind is, not among the pending here."""

    alias: str
    lane: int
    pending: int
    parked: int
    oldest_s: float
    paused: int = 0


def lag_of(alias: str) -> list[Lag]:
    """One entry per lane of this database. Cost: one query over undelivered rows only."""
    rows = {row[0]: row[1:] for row in fetch_all(alias, LAG)}
    return [
        Lag(alias, lane, pending, parked, float(oldest_s), paused)
        for lane in sorted({*all_lanes(), *rows})
        for pending, parked, oldest_s, paused in [rows.get(lane, (0, 0, 0, 0))]
    ]
