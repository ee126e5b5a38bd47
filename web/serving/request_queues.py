"""Queues with limits, in which requests wait for a thread that serves them.

Without limits, a server that was overloaded for a while would answer requests whose clients have
gone long ago, and the other clients would wait.

A request goes to the idle thread that served last. Each thread has sessions of its own on all
databases, and a session plans its first statements: if the threads took turns, many sessions would
do so for few requests.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

import structlog

from web.serving.pending_request import PendingRequest
from web.serving.refusals import BROKEN, QUEUE_FULL, WAITED_TOO_LONG, Refusal

log = structlog.get_logger()


class RequestQueue:
    """One queue, first in first out, with threads of its own. Thread-safe.

    `most`: how many requests may wait. `wait_s`: a request that has waited longer is refused.
    `full`, `late`: the answers to those that are refused.
    """

    def __init__(
        self,
        threads: int,
        most: int,
        wait_s: float,
        full: Refusal = QUEUE_FULL,
        late: Refusal = WAITED_TOO_LONG,
    ) -> None:
        self._full, self._late = full, late
        self._thread_count = threads
        self._most = most
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._queue: deque[PendingRequest] = deque()
        # Of threads that wait, the one that served last at the end. Empty while requests wait.
        self._idle: list[SimpleQueue[PendingRequest]] = []
        # The same requests in the same order, until `sweep` removes them.
        self._waiting: deque[PendingRequest] = deque()

    def start(self, serve: Callable[[PendingRequest], None]) -> None:
        for _ in range(self._thread_count):
            threading.Thread(target=self._work, args=(serve,), daemon=True).start()

    def add(self, request: PendingRequest) -> None:
        with self._lock:
            if self._idle:
                self._waiting.append(request)
                self._idle.pop().put(request)
                return
            is_full = len(self._queue) >= self._most
            if not is_full:
                self._waiting.append(request)
                self._queue.append(request)
        if is_full:
            self._full.answer(request)

    def sweep(self) -> None:
        """Refuses the requests that waited too long, also while all threads of the queue hang.

        Safety: only one thread may call it. A request that is refused here is never served as well:
        `_serve` sets `has_started` and then reads the clock, and here it is the other way round. So
        if this method finds the request late and not started, `_serve` finds it late, too.
        """
        waiting = self._waiting
        while waiting and (waiting[0].has_started or self._is_late(waiting[0])):
            request = waiting.popleft()
            if not request.has_started:
                self._late.answer(request)

    def _work(self, serve: Callable[[PendingRequest], None]) -> None:
        own: SimpleQueue[PendingRequest] = SimpleQueue()
        while True:
            self._serve(serve, self._take_first(own))

    def _take_first(self, own: SimpleQueue[PendingRequest]) -> PendingRequest:
        """The oldest request, or the next one to come. `own`: of the calling thread, empty."""
        with self._lock:
            if self._queue:
                return self._queue.popleft()
            self._idle.append(own)
        return own.get()

    def _serve(self, serve: Callable[[PendingRequest], None], request: PendingRequest) -> None:
        request.has_started = True
        if self._is_late(request):
            self._late.answer(request)
            return
        try:
            serve(request)
        except Exception:
            log.exception("serving.failed", path=request.scope.path)
            BROKEN.answer(request)

    def _is_late(self, request: PendingRequest) -> bool:
        return time.monotonic() - request.since > self._wait_s
