"""Searches the rate that a server can keep up."""

from collections.abc import Callable


def find_capacity(holds: Callable[[float], bool], low: float, high: float, probes: int) -> float:
    """The highest rate that held, by bisection. `low` is not tried: it is returned if none held.

    The error is at most (high - low) / 2 ** probes.
    """
    for _ in range(probes):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
