"""Asks webs the same question again and again, as a load balancer or a monitor does."""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from lab.runner.port import is_answering


@contextmanager
def probing(
    ports: Collection[int], path: str, every_s: float, on_answer: Callable[[int, bool], None]
) -> Iterator[None]:
    """During the block `on_answer` gets each port and whether a GET of `path` returned 200.

    Safety: each port has a thread of its own, which calls `on_answer`.
    """
    over = threading.Event()

    def probe(port: int) -> None:
        while not over.wait(every_s):
            on_answer(port, is_answering(port, path))

    threads = [threading.Thread(target=probe, args=(port,), daemon=True) for port in ports]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
