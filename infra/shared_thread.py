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
from typing import Any, Generic, NamedTuple, TypeVar, cast

import structlog
from greenlet import getcurrent, greenlet

W = TypeVar("W")
Command = tuple[Any, ...]
# One round trip: the replies to the commands, in their order.
Exchange = Callable[[Sequence[Command]], list[Any]]
log = structlog.get_logger()


class OwnThreadNeeded(BaseException):
    """Not an Exception: no handler of errors may take it for a failed request."""


class _Asked(NamedTuple):
    """What a request waits for."""

    exchange: Exchange
    commands: Sequence[Command]


class _Call(greenlet):
    """One request: `run` serves it. `asked`: None before it begins."""

    work: Any
    asked: _Asked | None = None


def is_in_shared_thread() -> bool:
    """Whether the caller is a request of a shared thread. Cost: less than 0.1 us."""
    return type(getcurrent()) is _Call


def need_own_thread() -> None:
    """Call it before a wait for anything but Redis. Outside of a shared thread it does nothing.

    Raises: OwnThreadNeeded, which the shared thread catches. Cost: less than 0.1 us.
    """
    if type(getcurrent()) is _Call:
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
        self._waiting: list[_Call] = []

    def turn(self, works: Sequence[W]) -> bool:
        """Begins these requests, and makes the round trip that they and the ones before wait for.

        Whether some still wait, for another one.
        """
        for work in works:
            call = _Call(self._serve)
            call.work = work
            self._resume(call, call.switch, work)
        asked_by, self._waiting = self._waiting, []
        for exchange in dict.fromkeys(call.asked.exchange for call in asked_by if call.asked):
            self._exchange(
                exchange, [c for c in asked_by if c.asked and c.asked.exchange == exchange]
            )
        return bool(self._waiting)

    def _exchange(self, exchange: Exchange, calls: Sequence[_Call]) -> None:
        """One round trip, also if it fails."""
        parts = [call.asked.commands for call in calls if call.asked]
        try:
            replies = exchange([command for part in parts for command in part])
        except Exception as error:
            for call in calls:
                self._resume(call, call.throw, error.with_traceback(None))
            return
        start = 0
        for call, part in zip(calls, parts, strict=True):
            end = start + len(part)
            self._resume(call, call.switch, replies[start:end])
            start = end

    def _resume(self, call: _Call, go_on: Callable[[Any], Any], value: Any) -> None:
        """Runs the request until it asks Redis again, ends, or needs a thread of its own."""
        try:
            asked = go_on(value)
        except OwnThreadNeeded:
            self._leave(call.work)
        except Exception:
            log.exception("shared_thread.failed")
        else:
            if not call.dead:
                call.asked = asked
                self._waiting.append(call)
