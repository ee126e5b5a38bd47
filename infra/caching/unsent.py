"""Calls that did not reach Redis after a commit, kept in memory until they can be made again.

An acknowledged write must remove its old values from Redis. While calls wait here, the process does
not use Redis (client.py), and they are made before it uses Redis again. A process that dies loses
them: then the drain makes them from the change table.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import structlog
from django.db import connections
from prometheus_client import Counter

from infra.caching.errors import REDIS_AWAY
from infra.telemetry.gauges import process_gauge
from infra.telemetry.reached_branches import reached

# More than this is not worth sending: an empty Redis is right at once, and is filled by reads.
MOST_UNSENT = 5_000
BATCH_SIZE = 500
UNSENT = process_gauge(
    "tideline_redis_unsent", "Calls that wait until Redis answers", combine="sum"
)
OVERFLOWS = Counter(
    "tideline_redis_unsent_overflows_total",
    "Times that more waited than is worth sending, and Redis was emptied",
)
log = structlog.get_logger()


class Call(NamedTuple):
    """`run(*where, items)`. Calls that are equal are made as one, with the items of all."""

    run: Callable[..., object]
    where: tuple[Hashable, ...]


class UnsentCalls:
    """Of one process. Thread-safe. Memory: at most MOST_UNSENT items.

    `goes_on`: a call may fail because of one node, and others get theirs.
    """

    def __init__(self, goes_on: bool = False) -> None:
        self._goes_on = goes_on
        self._items: dict[Call, list[Any]] = {}
        self._changing = threading.Lock()
        self._has_overflowed = False
        self._have_come = False
        self._none_untried = threading.Event()
        self._none_untried.set()

    def keep(self, call: Call, items: Sequence[Any]) -> bool:
        """Keeps a call. False: an equal one waits already. The last one kept is made last.

        So the calls of one change keep their order: a validator ends after the caches that it is
        about.
        """
        with self._changing:
            self._none_untried.clear()
            self._have_come = True
            is_new = call not in self._items
            self._items[call] = [*self._items.pop(call, ()), *items]
            self._limit()
            return is_new

    @property
    def is_empty(self) -> bool:
        with self._changing:
            return not (self._items or self._has_overflowed)

    def wait_until_tried(self, most_s: float) -> bool:
        """Waits for `most_s` at most until no call is left. If it `goes_on`, until each was tried:
        then all nodes that answer have it. Returns whether that is so."""
        return self._none_untried.wait(most_s)

    def send(self, clear: Callable[[], object]) -> bool:
        """Makes the calls in order. True: none is left. Raises what REDIS_AWAY lists.

        `clear` empties Redis; it is called after an overflow. A call that fails for another reason
        is left to the drain. If `goes_on`, calls after a failed one are made now and once more
        later: their order counts.
        """
        try:
            if self._has_overflowed:
                self._clear(clear)
            while calls := self._take():
                self._make(calls)
            return True
        finally:  # this thread may not come again for days
            connections.close_all()

    def _clear(self, clear: Callable[[], object]) -> None:
        self._has_overflowed = False  # first: it may overflow again
        try:
            clear()
        except BaseException:
            self._has_overflowed = True
            raise

    def _make(self, calls: Sequence[tuple[Call, list[Any]]]) -> None:
        errors, left = list[Exception](), calls[:0]
        for number, (call, items) in enumerate(calls):
            try:
                self._make_one(call, items)
            except REDIS_AWAY as error:
                left = left or calls[number:]
                errors.append(error)
                if not self._goes_on:
                    break
        if errors:
            self._give_back(left)
            raise errors[0]

    def _make_one(self, call: Call, items: list[Any]) -> None:
        reached("unsent.sent")
        try:
            call.run(*call.where, items)
        except REDIS_AWAY:
            raise
        except Exception as error:
            log.warning("unsent.left_to_drain", call=call.run.__name__, error=str(error))

    def _take(self) -> list[tuple[Call, list[Any]]]:
        """All calls, the large ones in parts."""
        with self._changing:
            calls = [
                (call, items[first : first + BATCH_SIZE])
                for call, items in self._items.items()
                for first in range(0, max(1, len(items)), BATCH_SIZE)
            ]
            self._items, self._have_come = {}, False
            if not calls:
                self._none_untried.set()
            self._count()
            return calls

    def _give_back(self, calls: Sequence[tuple[Call, list[Any]]]) -> None:
        """Before those that have come since."""
        with self._changing:
            newer, self._items = self._items, {}
            for call, items in chain(calls, newer.items()):
                self._items.setdefault(call, []).extend(items)
            if self._goes_on and not self._have_come:
                self._none_untried.set()
            self._limit()

    def _limit(self) -> None:
        if self._count() > MOST_UNSENT:
            reached("unsent.overflowed")
            log.error("unsent.overflowed", most=MOST_UNSENT)
            OVERFLOWS.inc()
            self._has_overflowed = True
            self._items.clear()
            self._count()

    def _count(self) -> int:
        count = sum(map(len, self._items.values()))
        UNSENT.set(count)
        return count
