"""Calls that start at the same moment, each in a thread of its own."""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.db import connections

from tests.waiting import PATIENCE_S


def run_together(calls: Iterable[Callable[[], Any]]) -> list[Any]:
    """Answers in the order of the calls; what a call raised stands in its place."""
    waiting = list(calls)
    barrier = threading.Barrier(len(waiting))
    with ThreadPoolExecutor(len(waiting)) as pool:
        return list(pool.map(partial(_run, barrier), waiting))


def failures(answers: Sequence[Any]) -> list[Exception]:
    return [answer for answer in answers if isinstance(answer, Exception)]


def _run(barrier: threading.Barrier, call: Callable[[], Any]) -> Any:
    try:
        barrier.wait(PATIENCE_S)
        return call()
    except Exception as error:  # the test decides what may be raised
        return error
    finally:
        connections.close_all()
