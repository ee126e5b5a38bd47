"""Waiting for what another thread, process or server brings about, and tells nobody of.

A wait ends when there is something to see: how long it may take is a limit for what is broken,
and no test says by it how fast a thing is.
"""

import time
from collections.abc import Callable
from typing import TypeVar

LOOK_EVERY_S = 0.01
# Far above what any of them takes on a machine with ten times the load it can carry.
PATIENCE_S = 300
Found = TypeVar("Found")


def until(
    find: Callable[[], Found], within_s: float = PATIENCE_S, said: Callable[[], object] = str
) -> Found:
    """The first thing found that is true. Fails with what is `said` when it takes too long."""
    deadline = time.monotonic() + within_s
    while not (found := find()):
        assert time.monotonic() < deadline, said()
        time.sleep(LOOK_EVERY_S)
    return found
