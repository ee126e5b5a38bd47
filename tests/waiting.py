"""Waiting for what another thread, process or server brings about, and tells nobody of."""

import time
from collections.abc import Callable
from typing import TypeVar

LOOK_EVERY_S = 0.01
Found = TypeVar("Found")


def until(
    find: Callable[[], Found], within_s: float = 60, said: Callable[[], object] = str
) -> Found:
    """The first thing found that is true. Fails with what is `said` when it takes too long."""
    deadline = time.monotonic() + within_s
    while not (found := find()):
        assert time.monotonic() < deadline, said()
        time.sleep(LOOK_EVERY_S)
    return found
