"""Threads that work beside a block of a scenario until it ends."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connections

Stop = threading.Event


@contextmanager
def threads(calls: Iterable[Callable[[], None]], stop: Stop | None = None) -> Iterator[None]:
    """Runs them beside the block, which stops them. Raises what one of them raised."""
    waiting_calls = list(calls)
    with ThreadPoolExecutor(len(waiting_calls)) as pool:
        running = [pool.submit(_closing, call) for call in waiting_calls]
        try:
            yield
        finally:
            if stop:
                stop.set()
        for one in running:
            one.result()


def _closing(call: Callable[[], None]) -> None:
    try:
        call()
    finally:
        connections.close_all()
