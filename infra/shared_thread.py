"""A thread that serves many requests at a time, so that they share their round trips to Redis.

A round trip costs more CPU than all the rest of a warm page: two system calls, and each time other
threads take over the processor and the interpreter's lock. So each request is a greenlet, a
function that the thread can leave and resume. A request that asks Redis is left, and the thread
goes on with the next one. When all of them wait, one round trip asks for all.

Only Redis is waited for like this. Any other wait would stop all requests of the thread, so the
code that waits calls `need_own_thread` before. The request is then given to another thread, where
it begins again. So nothing of it may have changed anything that cannot be done twice.
"""

from collections.abc import Callable, Sequence
from contextvars import Context
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar, cast

import structlog
from greenlet import getcurrent, greenlet

W = TypeVar("W")
Command = tuple[Any, ...]
# One round trip: the replies to the commands, in their order.
Exchange = Callable[[Sequence[Command]], list[Any]]
# Kept for the next requests; each has a stack of 16 kB.
_MOST_IDLE = 32
# Reads of a log and of a timeline. Many pages have the same, and one request never asks for the
# same after a change of its own.
_SENT_ONCE = ("XRANGE", "GETEX")
log = structlog.get_logger()


class OwnThreadNeeded(BaseException):
    """Not an Exception: no handler of errors may take it for a failed request."""


class _Asked(NamedTuple):
    """What a request waits for."""

    exchange: Exchange
    commands: Sequence[Command]


class _Outcome(Enum):
    """How a request left the greenlet that served it."""

    ENDED = 1
    NEEDS_OWN_THREAD = 2


class _Server(greenlet):
    """Serves one request after the other. A new greenlet for each would cost two system calls.

    `asked`: what its request waits for.
    """

    work: Any
    asked: _Asked

    def __init__(self, serve: Callable[[Any], None]) -> None:
        super().__init__(self._serve_all)
        self._serve = serve

    def begin(self, work: Any) -> Any:
        """What the request asks, or its outcome."""
        self.work = work
        self.gr_context = Context()
        return self.switch(work)

    def _serve_all(self, work: Any) -> None:
        while True:
            work = cast(greenlet, self.parent).switch(self._outcome_of(work))

    def _outcome_of(self, work: Any) -> _Outcome:
        try:
            self._serve(work)
        except OwnThreadNeeded:
            return _Outcome.NEEDS_OWN_THREAD
        except Exception:
            log.exception("shared_thread.failed")
        return _Outcome.ENDED


def is_in_shared_thread() -> bool:
    """Whether the caller is a request of a shared thread. Cost: less than 0.1 us."""
    return type(getcurrent()) is _Server


def need_own_thread() -> None:
    """Call it before a wait for anything but Redis. Outside of a shared thread it does nothing.

    Raises: OwnThreadNeeded, which the shared thread catches. Cost: less than 0.1 us.
    """
    if type(getcurrent()) is _Server:
        raise OwnThreadNeeded


def share_exchange(exchange: Exchange, commands: Sequence[Command]) -> list[Any]:
    """The replies, from a round trip with other requests. Raises what `exchange` raises.

    For requests of a shared thread only. It returns when all others wait too, or have ended.
    """
    parent = cast(greenlet, getcurrent().parent)
    return cast(list[Any], parent.switch(_Asked(exchange, commands)))


class SharedThread(Generic[W]):
    """Serves requests together. `serve` serves one, and catches all errors of its own.

    `leave`: gets a request that needs a thread of its own.
    """

    def __init__(self, serve: Callable[[W], None], leave: Callable[[W], None]) -> None:
        self._serve, self._leave = serve, leave
        self._waiting: list[_Server] = []
        self._idle: list[_Server] = []

    def turn(self, works: Sequence[W]) -> bool:
        """Begins these requests, and makes the round trip that they and the ones before wait for.

        Whether some still wait, for another one.
        """
        for work in works:
            server = self._idle.pop() if self._idle else _Server(self._serve)
            self._go_on(server, server.begin(work))
        servers, self._waiting = self._waiting, []
        # Sorted before the first trip: a request may go on to ask another client after it.
        by_exchange: dict[Exchange, list[_Server]] = {}
        for server in servers:
            by_exchange.setdefault(server.asked.exchange, []).append(server)
        for exchange, asking in by_exchange.items():
            self._exchange(exchange, asking)
        return bool(self._waiting)

    def _exchange(self, exchange: Exchange, servers: Sequence[_Server]) -> None:
        """One round trip, also if it fails."""
        parts = [server.asked.commands for server in servers]
        try:
            replies = _exchange_once(exchange, [command for part in parts for command in part])
        except Exception as error:
            for server in servers:
                self._go_on(server, server.throw(error.with_traceback(None)))
            return
        start = 0
        for server, part in zip(servers, parts, strict=True):
            end = start + len(part)
            self._go_on(server, server.switch(replies[start:end]))
            start = end

    def _go_on(self, server: _Server, result: Any) -> None:
        """`result`: what the request asks now, or its outcome."""
        if isinstance(result, _Asked):
            server.asked = result
            self._waiting.append(server)
            return
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(server)
        if result is _Outcome.NEEDS_OWN_THREAD:
            self._leave(server.work)


def _exchange_once(exchange: Exchange, commands: Sequence[Command]) -> list[Any]:
    """The replies to all commands. Equal reads of these kinds are sent once."""
    first: dict[Command, int] = {}
    sent: list[Command] = []
    places = []
    for command in commands:
        place = len(sent)
        if command[0] in _SENT_ONCE:
            place = first.setdefault(command, place)
        if place == len(sent):
            sent.append(command)
        places.append(place)
    replies = exchange(sent)
    return [replies[place] for place in places]
