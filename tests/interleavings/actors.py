"""One actor: a call on a thread of its own, which runs only while the scheduler lets it.

The thread stops at each yield point (`pause`). A thread that is no actor's runs through them.
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

from django.db import connections

from infra.sharding.sql import fetch_one

# The statement may still be sent when the thread stops, so pg_stat_activity would be too late.
IS_BLOCKED = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
_of_thread = threading.local()


class Session(NamedTuple):
    """A session of PostgreSQL: the alias of its database, and its process."""

    alias: str
    pid: int


class Abandoned(BaseException):
    """The schedule has ended early. No handler catches it, so transactions are rolled back."""


class Actor:
    """A call that stops at each yield point until it may go on.

    `place`: the point where it stopped. `session`: where its last statement ran. `error`: what
    the call raised. `add`: brings an actor into the same schedule. `thread`: the object that the
    product knows this thread by. `slow_at`: the failpoint where it lets all others go first.
    """

    def __init__(
        self, name: str, call: Callable[[], object], add: Callable[["Actor"], None]
    ) -> None:
        self.name, self._call, self.add = name, call, add
        self.place, self.slow_at = "its start", ""
        self.session: Session | None = None
        self.has_ended = self.is_blocked = self.gives_way = False
        self.error: Exception | None = None
        self.thread: object = None
        self._may_go, self._has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._is_abandoned = False

    def run(self) -> None:
        """The whole life of the actor, on its thread."""
        _of_thread.actor = self
        try:
            self._wait()
            self._call()
        except Abandoned:
            pass
        except Exception as error:  # the history says which errors may be raised
            self.error = error
        finally:
            _of_thread.actor = None
            self.has_ended = True
            self._has_stopped.release()

    def stop(self, place: str, session: Session | None, gives_way: bool) -> None:
        """Waits until the scheduler lets this actor go on."""
        self.place, self.gives_way = place, gives_way
        self.session = session or self.session
        self._has_stopped.release()
        self._wait()

    def let_go(self) -> None:
        """Lets the actor run to its next yield point."""
        self._may_go.release()

    def has_stopped(self, within_s: float) -> bool:
        """Whether it has come to a yield point or to its end since `let_go`."""
        return self._has_stopped.acquire(timeout=within_s)

    def waits_for_lock(self) -> bool:
        """Whether PostgreSQL holds its statement back for another session's lock. One statement."""
        if self.session is None:
            return False
        row = fetch_one(self.session.alias, IS_BLOCKED, (self.session.pid,))
        return row is not None and bool(row[0])

    def abandon(self) -> None:
        self._is_abandoned = True
        self.let_go()

    def _wait(self) -> None:
        self._may_go.acquire()
        if self._is_abandoned:
            raise Abandoned


def current_actor() -> Actor | None:
    """The actor of this thread, if it has one."""
    return getattr(_of_thread, "actor", None)


def pause(place: str, session: Session | None = None, gives_way: bool = False) -> None:
    """A yield point. `gives_way`: the actor waits for another one and can do nothing itself."""
    actor = current_actor()
    if actor is not None:
        actor.stop(place, session, gives_way)


def pause_at_failpoint(name: str) -> None:
    """A yield point where a slow actor gives way."""
    actor = current_actor()
    if actor is not None:
        actor.stop(f"failpoint {name}", None, gives_way=actor.slow_at == name)


def session_of(alias: str) -> Session | None:
    """The session of this thread on a database, if it has one."""
    connection = connections[alias].connection
    return None if connection is None else Session(alias, connection.info.backend_pid)
