"""The metrics of moves. The collector asks at a scrape, so they need no process that moves.

How far a move is: what both shards keep for it, and how far each follows the other.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import CachedProbe
from infra.sharding.sql import fetch_all, fetch_one
from operations.moves.models import Move
from operations.moves.rows import find_unfinished
from operations.moves.types import stream_name

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
    names = [stream_name(move.pk, is_back) for is_back in (False, True)]
    states = [SlotState(*row) for row in fetch_all(alias, SLOTS, (names,))]
    return max(states, default=None)


def slot_calls(move: Move) -> Mapping[str, Callable[[], SlotState | None]]:
    """`read_slot` of both shards, by alias, for a probe."""
    return {alias: partial(read_slot, move, alias) for alias in (move.source, move.target)}


def seconds_since_step(move: Move) -> float:
    """Since the last step was done, or the move began. One query."""
    row = fetch_one(GLOBAL_ALIAS, SINCE_STEP, (move.pk,))
    return max(0.0, row[0]) if row else 0.0


class UnfinishedMove(NamedTuple):
    """`move`: None if all are finished."""

    move: Move | None
    since_step_s: float


class MovesCollector(Collector):
    """Without a move there is one series. Cost: a query, and during a move three more; at most once
    in a few seconds."""

    def __init__(self) -> None:
        self._moves: CachedProbe[UnfinishedMove] = CachedProbe()
        self._slots: CachedProbe[SlotState | None] = CachedProbe()

    def describe(self) -> Iterable[Metric]:
        """The names alone, so that registering the collector makes no query."""
        return _families()

    def collect(self) -> Iterable[Metric]:
        unfinished, since_step, kept, lag = families = _families()
        answers = self._moves.ask({GLOBAL_ALIAS: _find})
        if GLOBAL_ALIAS not in answers:
            return []
        move, since_s = answers[GLOBAL_ALIAS]
        unfinished.add_metric([], int(move is not None))
        if move is not None:
            since_step.add_metric([], since_s)
            for alias, slot in self._slots.ask(slot_calls(move)).items():
                kept.add_metric([alias], slot.kept_bytes if slot else 0)
                lag.add_metric([alias], slot.lag_s if slot else 0)
        return families


def _find() -> UnfinishedMove:
    move = find_unfinished()
    return UnfinishedMove(move, seconds_since_step(move) if move else 0.0)


def _families() -> tuple[GaugeMetricFamily, ...]:
    return (
        GaugeMetricFamily(
            "tideline_moves_unfinished",
            "Moves of accounts that are not finished. The next three exist while one is",
        ),
        GaugeMetricFamily("tideline_move_step_seconds", "Since its last step"),
        GaugeMetricFamily(
            "tideline_move_log_bytes",
            "Log that the shard keeps for the other shard of the move",
            labels=["shard"],
        ),
        GaugeMetricFamily(
            "tideline_move_lag_seconds",
            "How far the other shard is behind this one; infinite while it does not ask",
            labels=["shard"],
        ),
    )
