"""The metrics of moves. The collector asks at a scrape, so they need no process that moves."""

from collections.abc import Iterable
from typing import NamedTuple

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import CachedProbe
from operations.moves.models import Move
from operations.moves.progress import SlotState, seconds_since_step, slot_calls
from operations.moves.rows import find_unfinished


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
