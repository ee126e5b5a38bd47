"""What the person at the terminal is told while things happen."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TICK_S = 2.0


def say(line: str) -> None:
    """Prints a line; a terminal that was closed must not keep us from stopping in order."""
    with suppress(OSError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


@contextmanager
def step(what: str) -> Iterator[None]:
    """Says what is done and, every two seconds, that it still goes on."""
    say(f"  {what}")
    done = threading.Event()
    ticker = threading.Thread(target=_tick, args=(what, done), daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def _tick(what: str, done: threading.Event) -> None:
    began = time.monotonic()
    while not done.wait(TICK_S):
        say(f"  {what}: {time.monotonic() - began:.0f} s")
