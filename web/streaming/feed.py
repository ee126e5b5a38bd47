"""A thread for each database, which reads its delivered changes and gives them to the router."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import structlog
from django.db import DatabaseError, connections

from infra.changes.errors import PositionLost, PositionTooOld
from infra.changes.feed import (
    FeedPage,
    FeedPosition,
    FiledChange,
    position_now,
    position_of_recent,
    read_feed,
)
from infra.sharding.connection_health import drop_broken_connections, give_back_connections
from infra.sharding.errors import NO_ANSWER
from infra.sharding.shards import all_aliases

log = structlog.get_logger()
PAGE = 500
# Between two looks at a database that has no more changes: the half of it is a message's delay.
QUIET_S = 0.05
# The same while no stream is open, so that no client waits for a message. The first one waits until
# all that came in this time was read (CATCH_UP_S).
IDLE_S = 5.0
AWAY_S = 0.5
# So long the first stream waits at most for what was delivered before it.
CATCH_UP_S, LOOK_S = 0.5, 0.005
# Between two looks for databases that were added.
LEARN_S = 5.0
# Read before the first client comes, so that clients of the process before can go on.
RECENT_CHANGES = 2_000


class FeedStart(NamedTuple):
    """The database is read from here on. After a gap, what came before it is unknown.

    `recent`: changes behind the position that were delivered before the start. They are for clients
    that come back, and no news for the others.
    """

    position: FeedPosition
    recent: Sequence[FiledChange] = ()


Give = Callable[[str, FeedStart | FeedPage], None]


class FeedReaders:
    """`give` may wait: a router that is behind is not given more. `is_given_all`: whether the
    router has taken all that it was given."""

    def __init__(self, give: Give, is_given_all: Callable[[], bool]) -> None:
        self._give, self._is_given_all = give, is_given_all
        # Empty: not known yet.
        self.aliases: frozenset[str] = frozenset()
        self._stopped = threading.Event()
        self._threads: dict[str, threading.Thread] = {}
        self._learner = threading.Thread(target=self._learn, name="feeds", daemon=True)
        # Whether a stream is open, and since when one is, by the monotonic clock.
        self._watched, self._watched_s = threading.Event(), 0.0
        # By alias: before then everything was read, or could not be read.
        self._read_until_s: dict[str, float] = {}

    def watch(self) -> None:
        """The first stream opens: the databases are read at once, and often."""
        self._watched_s = time.monotonic()
        self._watched.set()

    def unwatch(self) -> None:
        """No stream is open any more."""
        self._watched.clear()

    def catch_up(self) -> None:
        """Waits until the router has what was delivered before the first stream opened: else that
        stream would get it as news. It costs nothing a moment after that."""
        ends_s = self._watched_s + CATCH_UP_S
        while time.monotonic() < ends_s and not self._is_caught_up():
            time.sleep(LOOK_S)

    def _is_caught_up(self) -> bool:
        read_s = [self._read_until_s.get(alias, 0.0) for alias in self.aliases]
        return min(read_s, default=0.0) >= self._watched_s and self._is_given_all()

    def start(self) -> None:
        self._learner.start()

    def stop(self) -> None:
        self._stopped.set()
        self._watched.set()
        for thread in (self._learner, *self._threads.values()):
            thread.join()

    def _learn(self) -> None:
        while not self._stopped.is_set():
            self.aliases = frozenset(all_aliases())
            for alias in self.aliases:
                if alias not in self._threads:
                    self._threads[alias] = threading.Thread(
                        target=self._read, args=(alias,), name=f"feed-{alias}", daemon=True
                    )
                    self._threads[alias].start()
            give_back_connections()
            self._stopped.wait(LEARN_S)
        connections.close_all()

    def _read(self, alias: str) -> None:
        """Until the process ends. A database that does not answer delays its own messages only."""
        after: FeedPosition | None = None
        while not self._stopped.is_set():
            drop_broken_connections()
            began_s = time.monotonic()
            try:
                after, pause_s = self._step(alias, after)
            except NO_ANSWER as error:
                log.warning("streaming.database_away", alias=alias, error=str(error))
                connections[alias].close()
                pause_s = AWAY_S
            except DatabaseError:
                log.exception("streaming.feed_failed", alias=alias)
                pause_s = AWAY_S
            if pause_s:
                self._read_until_s[alias] = began_s
            self._pause(pause_s)
        connections.close_all()

    def _pause(self, pause_s: float) -> None:
        if pause_s == QUIET_S and not self._watched.is_set():
            self._watched.wait(IDLE_S)
        else:
            self._stopped.wait(pause_s)

    def _step(self, alias: str, after: FeedPosition | None) -> tuple[FeedPosition, float]:
        if after is None:
            return self._begin(alias), 0.0
        try:
            page = read_feed(alias, after, PAGE)
        except (PositionTooOld, PositionLost) as error:
            log.warning("streaming.gap", alias=alias, error=type(error).__name__)
            start = position_now(alias)
            self._give(alias, FeedStart(start))
            return start, 0.0
        if page.changes:
            self._give(alias, page)
        return page.position, QUIET_S if len(page.changes) < PAGE else 0.0

    def _begin(self, alias: str) -> FeedPosition:
        first = after = position_of_recent(alias, RECENT_CHANGES)
        recent: list[FiledChange] = []
        for _ in range(0, 2 * RECENT_CHANGES, PAGE):
            page = read_feed(alias, after, PAGE)
            recent += page.changes
            after = page.position
            if len(page.changes) < PAGE:
                break
        self._give(alias, FeedStart(first, recent))
        return after
