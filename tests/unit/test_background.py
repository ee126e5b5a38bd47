"""A background thread starts once, ends when asked, and starts again in a forked process."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

from infra.background import BackgroundThread
from tests.waiting import PATIENCE_S


class Waiter(BackgroundThread):
    def __init__(self):
        self.runs = 0
        super().__init__()

    def run(self):
        self.runs += 1
        self.stopped.wait(PATIENCE_S)


def test_many_starts_begin_one_thread():
    waiter, barrier = Waiter(), threading.Barrier(8)

    def start():
        barrier.wait()
        waiter.start()

    with ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(start)
    waiter.stop()
    assert waiter.runs == 1


def test_stop_without_a_thread_returns():
    waiter = Waiter()
    waiter.stop()
    assert waiter.runs == 0


def test_forked_process_starts_a_thread_of_its_own():
    waiter = Waiter()
    waiter.start()
    pid = os.fork()
    if pid == 0:
        waiter.start()
        waiter.stop()
        os._exit(waiter.runs)
    _, status = os.waitpid(pid, 0)
    waiter.stop()
    assert os.waitstatus_to_exitcode(status) == 2, "the parent's run and one more"
    assert waiter.runs == 1
