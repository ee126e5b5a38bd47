"""All open connections of this process: their number, their heartbeats, and their end."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from web.draining import is_draining
from web.streaming.errors import StreamsFull, TooManyStreams
from web.streaming.feed import FeedReaders
from web.streaming.metrics import CONNECTIONS, ENDED
from web.streaming.router import Router
from web.streaming.subscriber import DRAINED, Subscriber

# Proxies close a connection that is silent for a minute.
HEARTBEAT_S = 15.0
# Or of an application that listens without an account.
MOST_OF_ACCOUNT = 50
_LOOK_S = 0.1
_BEAT_PARTS = 50
# So that the clients of a process that drains do not all come back at once.
_DRAIN_PARTS = 10


class Connections:
    """`most`: of this process. Used in the event loop only, but for `all_open`."""

    def __init__(self, most: int, router: Router, feeds: FeedReaders) -> None:
        self._most, self._router, self._feeds = most, router, feeds
        self._open: set[Subscriber] = set()
        self._of_owner: Counter[tuple[int | None, int]] = Counter()

    def start(self) -> None:
        self._tasks = asyncio.create_task(self._beat()), asyncio.create_task(self._drain())

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def check_room(self) -> None:
        """Raises: StreamsFull, also while the process drains."""
        if is_draining() or len(self._open) >= self._most:
            raise StreamsFull("This server has no room for another stream")

    def all_open(self) -> list[Subscriber]:
        """Also in other threads: the interpreter copies the set in one step."""
        return list(self._open)

    @contextmanager
    def holding(self, subscriber: Subscriber) -> Iterator[None]:
        """The connection is counted during the block. Raises: StreamsFull, TooManyStreams."""
        self.check_room()
        owner = subscriber.owner
        if self._of_owner[owner] >= MOST_OF_ACCOUNT:
            raise TooManyStreams(f"You have {MOST_OF_ACCOUNT} open streams")
        gauge = CONNECTIONS.labels("websocket" if subscriber.is_socket else "sse")
        if not self._open:
            self._feeds.watch()
        self._open.add(subscriber)
        self._of_owner[owner] += 1
        gauge.inc()
        try:
            yield
        finally:
            gauge.dec()
            self._open.discard(subscriber)
            if not self._open:
                self._feeds.unwatch()
            self._of_owner[owner] -= 1
            if not self._of_owner[owner]:
                del self._of_owner[owner]

    async def _beat(self) -> None:
        """A comment keeps a silent connection open, and moves the client's position. One part of
        the connections after the other: all at once would keep messages waiting."""
        for part in itertools.cycle(range(_BEAT_PARTS)):
            await asyncio.sleep(HEARTBEAT_S / _BEAT_PARTS)
            position = b"id: %b\n" % self._router.sent_position
            for subscriber in self._open:
                if hash(subscriber) % _BEAT_PARTS == part:
                    _beat_once(subscriber, position)

    async def _drain(self) -> None:
        while not is_draining():
            await asyncio.sleep(_LOOK_S)
        leaving = list(self._open)
        for part in range(_DRAIN_PARTS):
            for subscriber in leaving[part::_DRAIN_PARTS]:
                subscriber.end(DRAINED)
            await asyncio.sleep(_LOOK_S)


def count_end(reason: str) -> None:
    ENDED.labels(reason).inc()


def _beat_once(subscriber: Subscriber, position: bytes) -> None:
    """Sockets need none, and streams of services have their own."""
    is_kept_open = subscriber.channels and not subscriber.is_socket
    if is_kept_open and subscriber.was_idle and not subscriber.is_replaying:
        subscriber.put(b":thump\n%b\n" % (position * subscriber.knows_positions))
    subscriber.was_idle = True
