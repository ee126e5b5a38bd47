"""A thread that serves many requests at a time, so that they share their round trips to Redis.

A round trip costs more CPU than all the rest of a warm page: two system calls, and each time other
threads take over the processor and the interpreter's lock. So each request runs in a greenlet: a
function that the thread can leave and resume. When a request asks Redis, the thread leaves this
request and goes on with the next one. When all requests wait, one round trip asks for all of them.

A request may wait for Redis only: any other wait would stop all requests of the thread. Code that
waits for something else calls `need_own_thread` before. The request then begins again in another
thread. So until then it must change nothing that cannot be done twice.
"""

from collections.abc import Callable, Sequence
from contextvars import Context
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar, cast

import structlog
from greenlet import getcurrent, greenlet

from infra.evidence import Command

R = TypeVar("R")
# One round trip: the replies to the commands, in their order.
Exchange = Callable[[Sequence[Command]], list[Any]]
# Greenlets that are kept for the next requests. Each has a stack of 16 kB.
_MOST_IDLE = 32
log = structlog.get_logger()


class OwnThreadNeeded(BaseException):
    """Not an Exception: no handler of errors may take it for a failed request."""


class _Asked(NamedTuple):
    """The commands whose replies a request waits for, and who sends them."""

    exchange: Exchange
    commands: Sequence[Command]


class _Outcome(Enum):
    """How a request left its greenlet."""

    ENDED = 1
    NEEDS_OWN_THREAD = 2


class _RequestGreenlet(greenlet):
    """Serves one request after the other. A new greenlet for each would cost two system calls.

    `asked`: what its request waits for.
    """

    request: Any
    asked: _Asked

    def __init__(self, serve: Callable[[Any], None]) -> None:
        super().__init__(self._serve_all)
        self._serve = serve

    def begin(self, request: Any) -> Any:
        """Serves the request until it asks Redis or ends: what it asks, or its outcome."""
        self.request = request
        self.gr_context = Context()
        return self.switch(request)

    def _serve_all(self, request: Any) -> None:
        while True:
            request = cast(greenlet, self.parent).switch(self._outcome_of(request))

    def _outcome_of(self, request: Any) -> _Outcome:
        try:
            self._serve(request)
        except OwnThreadNeeded:
            return _Outcome.NEEDS_OWN_THREAD
        except Exception:
            log.exception("shared_thread.failed")
        return _Outcome.ENDED


def is_in_shared_thread() -> bool:
    """Whether the caller is a request of a shared thread. Cost: less than 0.1 us."""
    return type(getcurrent()) is _RequestGreenlet


def need_own_thread() -> None:
    """Call it before a wait for anything but Redis. Outside of a shared thread it does nothing.

    Raises: OwnThreadNeeded, which the shared thread catches. Cost: less than 0.1 us.
    """
    if type(getcurrent()) is _RequestGreenlet:
        raise OwnThreadNeeded


def share_exchange(exchange: Exchange, commands: Sequence[Command]) -> list[Any]:
    """The replies, from a round trip that other requests share. Raises what `exchange` raises.

    For requests of a shared thread only. It returns after the other requests have run until they
    wait too, or end.
    """
    parent = cast(greenlet, getcurrent().parent)
    return cast(list[Any], parent.switch(_Asked(exchange, commands)))


class SharedThread(Generic[R]):
    """Serves requests together. `serve` serves one request, and catches all errors of its own.

    `hand_over`: gets each request that needs a thread of its own.
    """

    def __init__(self, serve: Callable[[R], None], hand_over: Callable[[R], None]) -> None:
        self._serve, self._hand_over = serve, hand_over
        self._waiting: list[_RequestGreenlet] = []
        self._idle: list[_RequestGreenlet] = []

    def turn(self, requests: Sequence[R]) -> bool:
        """Begins these requests. Then makes one round trip for all that wait, and resumes them.

        Returns whether some requests wait for the round trip of the next turn.
        """
        for request in requests:
            greenlet = self._idle.pop() if self._idle else _RequestGreenlet(self._serve)
            self._put_away(greenlet, greenlet.begin(request))
        waiting, self._waiting = self._waiting, []
        # Grouped before the first trip: a resumed request may wait again, for another client.
        by_exchange: dict[Exchange, list[_RequestGreenlet]] = {}
        for greenlet in waiting:
            by_exchange.setdefault(greenlet.asked.exchange, []).append(greenlet)
        for exchange, group in by_exchange.items():
            self._exchange(exchange, group)
        return bool(self._waiting)

    def _exchange(self, exchange: Exchange, group: Sequence[_RequestGreenlet]) -> None:
        """One round trip for these requests. If it fails, each of them gets the error."""
        parts = [greenlet.asked.commands for greenlet in group]
        try:
            replies = _exchange_once(exchange, [command for part in parts for command in part])
        except Exception as error:
            for greenlet in group:
                self._put_away(greenlet, greenlet.throw(error.with_traceback(None)))
            return
        start = 0
        for greenlet, part in zip(group, parts, strict=True):
            end = start + len(part)
            self._put_away(greenlet, greenlet.switch(replies[start:end]))
            start = end

    def _put_away(self, greenlet: _RequestGreenlet, result: Any) -> None:
        """Keeps a greenlet that the thread has just left. `result`: as `begin` returns it."""
        if isinstance(result, _Asked):
            greenlet.asked = result
            self._waiting.append(greenlet)
            return
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(greenlet)
        if result is _Outcome.NEEDS_OWN_THREAD:
            self._hand_over(greenlet.request)


def _exchange_once(exchange: Exchange, commands: Sequence[Command]) -> list[Any]:
    """The replies to all commands. Equal ones that confirm answers are sent once."""
    first: dict[Command, int] = {}
    sent: list[Command] = []
    places = []
    for command in commands:
        place = len(sent)
        if type(command) is bytes:
            place = first.setdefault(command, place)
        if place == len(sent):
            sent.append(command)
        places.append(place)
    replies = exchange(sent)
    return [replies[place] for place in places]
