"""Figures of a time range: latencies, errors, and when the last error ended."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple


class Timing(NamedTuple):
    """One call as a figure. `due_s`: when the open loop wanted it to begin."""

    client: int
    alias: str
    kind: str
    due_s: float
    began_s: float
    ended_s: float
    status: int

    @property
    def is_error(self) -> bool:
        """No answer, or a 5xx."""
        return self.status == 0 or self.status >= 500


class LoadFigures(NamedTuple):
    """`longest_s`: of one call from its begin on, without the wait for its turn."""

    calls: int
    errors: dict[int, int]
    p50_ms: float
    p99_ms: float
    longest_s: float

    @property
    def error_count(self) -> int:
        return sum(self.errors.values())

    def text(self) -> str:
        wrong = ", ".join(
            f"{count} of {status or 'no answer'}" for status, count in self.errors.items()
        )
        return (
            f"{self.calls} calls, {wrong or 'no error'}, p50 {self.p50_ms:.0f} ms,"
            f" p99 {self.p99_ms:.0f} ms, longest {self.longest_s:.1f} s"
        )


def figures(timings: Iterable[Timing]) -> LoadFigures:
    calls = list(timings)
    # A client that waits for its own earlier call is late by its own doing.
    latencies = sorted(timing.ended_s - timing.began_s for timing in calls)
    errors = Counter(timing.status for timing in calls if timing.is_error)
    longest_s = max(latencies, default=0.0)
    return LoadFigures(
        len(calls), dict(errors), _at(latencies, 0.5) * 1e3, _at(latencies, 0.99) * 1e3, longest_s
    )


def between(
    timings: Iterable[Timing],
    from_s: float,
    to_s: float,
    aliases: Collection[str] | None = None,
    kinds: Collection[str] | None = None,
) -> list[Timing]:
    """The calls that began in the range, of accounts on the shards `aliases`, of `kinds`."""
    return [
        timing
        for timing in timings
        if from_s <= timing.began_s < to_s
        and (aliases is None or timing.alias in aliases)
        and (kinds is None or timing.kind in kinds)
    ]


def recovery_s(timings: Iterable[Timing], healed_s: float) -> float:
    """Seconds from the heal until the last error of a call that began after it."""
    ends = [timing.ended_s for timing in timings if timing.began_s >= healed_s and timing.is_error]
    return max(ends, default=healed_s) - healed_s


def _at(latencies: Sequence[float], share: float) -> float:
    return latencies[min(int(len(latencies) * share), len(latencies) - 1)] if latencies else 0.0
