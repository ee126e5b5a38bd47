"""Lanes: where requests wait for a thread that serves them, few and for a short time.

Without a bound, a server that was overloaded for a while answers requests long after their clients
have gone, and is late for the others.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

import structlog

from config.serving.pending import PendingRequest
from config.serving.refusals import BROKEN, QUEUE_FULL, WAITED_TOO_LONG

log = structlog.get_logger()


class Lane:
    """Threads of their own and one queue, first in first out. Thread-safe after `start`.

    `most`: how many may wait. `wait_s`: how long; after that the request is refused, not served.
    """

    def __init__(self, threads: int, most: int, wait_s: float) -> None:
        self._thread_count = threads
        self._most = most
        self._wait_s = wait_s
        self._queue: SimpleQueue[PendingRequest] = SimpleQueue()
        # The same requests in the same order, until `sweep` removes them.
        self._waiting: deque[PendingRequest] = deque()

    def start(self, serve: Callable[[PendingRequest], None]) -> None:
        for _ in range(self._thread_count):
            threading.Thread(target=self._work, args=(serve,), daemon=True).start()

    def add(self, request: PendingRequest) -> None:
        if self._queue.qsize() >= self._most:
            QUEUE_FULL.answer(request)
            return
        self._waiting.append(request)
        self._queue.put(request)

    def sweep(self) -> None:
        """Refuses what waited too long. It is for threads that hang: nothing leaves the queue then.

        Safety: only one thread may call it. A thread that takes the request at the same time also
        refuses it, because it looks at the clock after `has_started`, and this after the clock.
        """
        waiting = self._waiting
        while waiting and (waiting[0].has_started or self._is_late(waiting[0])):
            request = waiting.popleft()
            if not request.has_started:
                WAITED_TOO_LONG.answer(request)

    def _work(self, serve: Callable[[PendingRequest], None]) -> None:
        while True:
            self._serve(serve, self._queue.get())

    def _serve(self, serve: Callable[[PendingRequest], None], request: PendingRequest) -> None:
        request.has_started = True
        if self._is_late(request):
            WAITED_TOO_LONG.answer(request)
            return
        try:
            serve(request)
        except Exception:
            log.exception("serving.failed", path=request.scope.path)
            BROKEN.answer(request)

    def _is_late(self, request: PendingRequest) -> bool:
        return time.monotonic() - request.since > self._wait_s
