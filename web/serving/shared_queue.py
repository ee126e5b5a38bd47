"""A queue whose one thread serves many requests at a time."""

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

from prometheus_client import Counter

from infra.shared_thread import SharedThread
from infra.telemetry.gauges import adder
from web.serving.pending_request import PendingRequest
from web.serving.request_queues import RequestQueue

# With more, the first of them would wait for the last one, for little gain.
_MOST_TOGETHER = 32
TURNS = Counter(
    "tideline_shared_turns_total",
    "Turns of the shared threads, which serve quick GETs; each has one round trip at most",
)
BEGUN = Counter(
    "tideline_shared_requests_total",
    (
        "Requests that shared threads began to serve. Divided by the turns: how many share a "
        "round trip"
    ),
)
HANDED_OVER = Counter(
    "tideline_shared_requests_handed_over_total",
    "Requests that shared threads gave to other threads, because they wait for a database",
)
_add_turn, _add_begun = adder(TURNS), adder(BEGUN)


class SharedQueue(RequestQueue):
    """For requests that wait for nothing but Redis if the caches are warm (infra/shared_thread.py).

    `other`: the queue that gets the requests that wait for more. Their time in both counts as
    one wait, because `since` stays.
    """

    def __init__(self, most: int, wait_s: float, other: RequestQueue) -> None:
        super().__init__(1, most, wait_s)
        self._other = other

    def _work(self, serve: Callable[[PendingRequest], None]) -> None:
        thread = SharedThread(partial(self._serve, serve), self._hand_over)
        own: SimpleQueue[PendingRequest] = SimpleQueue()
        some_wait = False
        while True:
            requests = self._take(own, may_wait=not some_wait)
            _add_turn(1)
            _add_begun(len(requests))
            some_wait = thread.turn(requests)

    def _take(self, own: SimpleQueue[PendingRequest], may_wait: bool) -> list[PendingRequest]:
        """At most _MOST_TOGETHER requests of the queue. `may_wait`: waits for the first one."""
        taken = [self._take_first(own)] if may_wait else []
        with self._lock:
            while len(taken) < _MOST_TOGETHER and self._queue:
                taken.append(self._queue.popleft())
        return taken

    def _hand_over(self, request: PendingRequest) -> None:
        HANDED_OVER.inc()
        request.has_started = False
        self._other.add(request)
