"""How far a move is: what both shards keep for it, and how far each follows the other."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one
from operations.moves.models import Move

# PostgreSQL names the session of a subscription after it.
SLOTS = """
SELECT (pg_current_wal_lsn() - slots.restart_lsn)::bigint,
    CASE WHEN slots.active THEN coalesce(extract(epoch FROM sessions.replay_lag), 0)
        ELSE 'Infinity' END::float8,
    slots.active, coalesce(slots.wal_status, '')
FROM pg_replication_slots AS slots
LEFT JOIN pg_stat_replication AS sessions ON sessions.pid = slots.active_pid
WHERE slots.slot_name = ANY(%s)
"""
SINCE_STEP = """
SELECT extract(epoch FROM clock_timestamp() - stepped_at)::float8 FROM moves_move WHERE id = %s
"""


class SlotState(NamedTuple):
    """What a shard keeps for the other one.

    `kept_bytes`: of log. `lag_s`: how far the other one is behind; infinite while it does not ask,
    which `is_active` says. `state`: by PostgreSQL, `lost` if it has dropped what the other one
    needs.
    """

    kept_bytes: int
    lag_s: float
    is_active: bool
    state: str

    @property
    def kept_mb(self) -> float:
        return self.kept_bytes / 1e6


def read_slot(move: Move, alias: str) -> SlotState | None:
    """None: the shard keeps nothing for the move. One query."""
    names = [f"tideline_move_{move.pk}", f"tideline_move_{move.pk}_back"]
    states = [SlotState(*row) for row in fetch_all(alias, SLOTS, (names,))]
    return max(states, default=None)


def slot_calls(move: Move) -> Mapping[str, Callable[[], SlotState | None]]:
    """`read_slot` of both shards, by alias, for a probe."""
    return {alias: partial(read_slot, move, alias) for alias in (move.source, move.target)}


def seconds_since_step(move: Move) -> float:
    """Since the last step was done, or the move began. One query."""
    row = fetch_one(GLOBAL_ALIAS, SINCE_STEP, (move.pk,))
    return max(0.0, row[0]) if row else 0.0
