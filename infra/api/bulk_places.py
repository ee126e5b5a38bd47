"""Requests of bulk services: people go first when the site is slow.

While their requests are quick, bulk services may use all threads of the process. One that takes
longer than SLOW_S shows that a store is slow, or that it has much to do. From then on they have the
places of this process only, until REST_S after the last slow one. A request that has waited for
LONGEST_WAIT_S shows that all threads are busy, and is refused too.
"""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from prometheus_client import Counter

from infra.api.errors import TidelineError

T = TypeVar("T")
SLOW_S, REST_S, LONGEST_WAIT_S = 0.1, 1.0, 0.1
REFUSED = Counter(
    "tideline_bulk_refused_total",
    (
        "Requests of bulk services that let people go first (503): `slow` (their places were "
        "taken), `waited` (for a thread)"
    ),
    ["why"],
)


class PeopleFirst(TidelineError):
    """The site is slow at the moment, and the caller is a bulk service."""

    status = 503
    text = "Bulk services wait while the site is slow"
    headers = {"Retry-After": "1"}


class BulkPlaces:
    """Of one process. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changing = threading.Lock()
        self._begun: dict[object, float] = {}
        self._slow_until = 0.0

    def serve(self, call: Callable[[], T], arrived: float | None) -> T:
        """What `call` returns. Raises: PeopleFirst.

        `arrived`: by the monotonic clock; None: now.
        """
        request = object()
        self._enter(request, arrived)
        try:
            return call()
        finally:
            self._leave(request)

    def _enter(self, request: object, arrived: float | None) -> None:
        now = time.monotonic()
        if arrived is not None and now - arrived > LONGEST_WAIT_S:
            _refuse("waited")
        with self._changing:
            if len(self._begun) >= self._most and self._is_slow(now):
                _refuse("slow")
            self._begun[request] = now

    def _leave(self, request: object) -> None:
        now = time.monotonic()
        with self._changing:
            if now - self._begun.pop(request) > SLOW_S:
                self._slow_until = now + REST_S

    def _is_slow(self, now: float) -> bool:
        return now < self._slow_until or now - min(self._begun.values()) > SLOW_S


def _refuse(why: str) -> None:
    REFUSED.labels(why).inc()
    raise PeopleFirst


class _OfProcess:
    places = BulkPlaces(1)


def set_bulk_places(most: int) -> None:
    """How many slow requests of bulk services this process serves at a time."""
    _OfProcess.places = BulkPlaces(most)


def serve_bulk(call: Callable[[], T], arrived: float | None) -> T:
    """As `BulkPlaces.serve`, with the places of this process."""
    return _OfProcess.places.serve(call, arrived)
