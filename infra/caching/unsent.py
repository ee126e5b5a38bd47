"""Calls that did not reach Redis after a commit, kept in memory until they can be made again.

An acknowledged write must remove its old values from Redis. While calls wait here, the process does
not use Redis (client.py), and they are made before it uses Redis again. A process that dies loses
them: then the drain makes them from the change table.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
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
    "tideline_redis_unsent_overflows_total", "Times that Redis was emptied instead of updated"
)
log = structlog.get_logger()


class Call(NamedTuple):
    """`run(*where, items)`. Calls that are equal are made as one, with the items of all."""

    run: Callable[..., object]
    where: tuple[Hashable, ...]


class UnsentCalls:
    """Of one process. Thread-safe. Memory: at most MOST_UNSENT items."""

    def __init__(self) -> None:
        self._items: dict[Call, list[Any]] = {}
        self._changing = threading.Lock()
        self._has_overflowed = False
        self._all_sent = threading.Event()
        self._all_sent.set()

    def keep(self, call: Call, items: Sequence[Any]) -> bool:
        """Keeps a call. False: an equal one waits already. The last one kept is made last.

        So the calls of one change keep their order: a validator ends after the caches that it is
        about.
        """
        with self._changing:
            self._all_sent.clear()
            is_new = call not in self._items
            self._items[call] = [*self._items.pop(call, ()), *items]
            self._limit()
            return is_new

    @property
    def is_empty(self) -> bool:
        with self._changing:
            return not (self._items or self._has_overflowed)

    def wait_until_sent(self, most_s: float) -> bool:
        """Waits until no call is left, for `most_s` at most. Returns whether none is left."""
        return self._all_sent.wait(most_s)

    def send(self, clear: Callable[[], object]) -> bool:
        """Makes the calls in order. True: none is left. Raises what REDIS_AWAY lists.

        `clear` empties Redis; it is called after an overflow. A call that fails for another reason
        is left to the drain.
        """
        try:
            if self._has_overflowed:
                self._clear(clear)
            while batch := self._take():
                self._send(*batch)
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

    def _send(self, call: Call, batch: list[Any]) -> None:
        reached("unsent.sent")
        try:
            call.run(*call.where, batch)
        except REDIS_AWAY:
            self._give_back(call, batch)
            raise
        except Exception as error:
            log.warning("unsent.left_to_drain", call=call.run.__name__, error=str(error))

    def _take(self) -> tuple[Call, list[Any]] | None:
        with self._changing:
            if not self._items:
                self._all_sent.set()
                return None
            call, items = next(iter(self._items.items()))
            batch, rest = items[:BATCH_SIZE], items[BATCH_SIZE:]
            if rest:
                self._items[call] = rest
            else:
                del self._items[call]
            self._count()
            return call, batch

    def _give_back(self, call: Call, batch: Sequence[Any]) -> None:
        with self._changing:
            first = {call: [*batch, *self._items.pop(call, ())]}
            self._items = first | self._items
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
