"""The same race again and again: workers that start each round together, on threads that live on.

`ROUNDS=1000` in the environment makes the storms as long as they are in a thorough run.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import connections

from tests.waiting import PATIENCE_S

Worker = Callable[[int], object]  # is handed the number of the round
IS_THOROUGH = "ROUNDS" in os.environ


def rounds(default: int) -> int:
    """How many rounds to run: few in the suite, ROUNDS in a thorough run."""
    return int(os.environ.get("ROUNDS", default))


def run_rounds(count: int, workers: Sequence[Worker], after: Worker) -> None:
    """In each round all workers start at the same moment; `after` runs alone when they are done.

    Raises what a worker or `after` raised first; no round begins after that.
    """
    begin, end = (threading.Barrier(len(workers) + 1, timeout=PATIENCE_S) for _ in range(2))

    def give_up() -> None:
        begin.abort(), end.abort()

    def work(worker: Worker) -> None:
        try:
            for number in range(count):
                begin.wait()
                worker(number)
                end.wait()
        except BaseException:
            give_up()
            raise
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(workers)) as pool:
        working = [pool.submit(work, worker) for worker in workers]
        try:
            for number in range(count):
                begin.wait()
                end.wait()
                after(number)
        except threading.BrokenBarrierError as error:
            raise _cause_of(error, working) from None
        except BaseException:
            give_up()
            raise


def _cause_of(broken: Exception, working: Sequence[Future[None]]) -> BaseException:
    """Why nobody met any more: the first worker's own error, or somebody took too long."""
    errors = [one.exception() for one in working]
    return next((e for e in errors if e and not isinstance(e, type(broken))), broken)
