"""Riders: what a request takes for right, its next round trip confirms.

A request that reads may begin with what its process remembers, such as who has the access token, or
with what is nearly certain, such as that its quota is not used up. The question whether that holds
goes out with the first commands that the request sends anyway, so it costs no round trip of its
own. If it does not hold, the request begins again or is refused.

    with confirming():
        answer = serve()    # may call `confirm_later`
        confirm_now()       # a request that has asked Redis nothing asks at its end
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from infra.evidence import Command

Run = Callable[[Sequence[Command]], list[Any]]


class Outdated(BaseException):
    """The request begins again. Not an Exception: no handler of errors may take it for a failed
    request."""


class Refused(BaseException):
    """The request gets the answer to this error. Not an Exception, as Outdated."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Rider(NamedTuple):
    """`receive`: gets the replies; None while Redis is away. It may raise Outdated or Refused.

    `run`: a round trip of its own. Raises: RedisError.
    """

    commands: Sequence[Command]
    receive: Callable[[Sequence[Any] | None], object]
    run: Run


class _Request:
    __slots__ = ("notes", "riders")

    def __init__(self) -> None:
        self.riders: list[Rider] = []
        self.notes: dict[str, Any] = {}


_current: ContextVar[_Request | None] = ContextVar("tideline_confirmations", default=None)


@contextmanager
def confirming() -> Iterator[None]:
    """In the block a request may take things for right. Call `confirm_now` before its answer."""
    token = _current.set(_Request())
    try:
        yield
    finally:
        _current.reset(token)


def confirm_later(rider: Rider) -> bool:
    """Whether the request will confirm this. False: it cannot, so ask now."""
    request = _current.get()
    if request is None:
        return False
    request.riders.append(rider)
    return True


def notes_of_request() -> dict[str, Any]:
    """What riders have learned for the rest of the request, by name. Empty, and kept nowhere, if
    nothing can ride."""
    request = _current.get()
    return request.notes if request is not None else {}


def run_confirming(run: Run, commands: Sequence[Command]) -> list[Any]:
    """`run(commands)`, with the riders of the request. Raises: Outdated, Refused, what `run`
    raises; then the riders stay. Cost: less than 0.1 us without a rider."""
    request = _current.get()
    if request is None or not request.riders:
        return run(commands)
    riders, count = request.riders, len(commands)
    replies = run([*(command for rider in riders for command in rider.commands), *commands])
    request.riders = []
    _deliver(riders, replies)
    return replies[len(replies) - count :]


def confirm_now() -> None:
    """Asks what nothing has asked yet, in one round trip. Raises: Outdated, Refused."""
    request = _current.get()
    riders = request.riders if request is not None else []
    if request is None or not riders:
        return
    request.riders = []
    replies: Sequence[Any] | None = None
    with suppress(RedisError):
        replies = riders[0].run([command for rider in riders for command in rider.commands])
    _deliver(riders, replies)


def _deliver(riders: Sequence[Rider], replies: Sequence[Any] | None) -> None:
    """Each rider gets its replies, also after another one has raised. The first one's error counts:
    who asks comes before what is left of the quota."""
    end = sum(len(rider.commands) for rider in riders)
    error: BaseException | None = None
    for rider in reversed(riders):
        start = end - len(rider.commands)
        try:
            rider.receive(None if replies is None else replies[start:end])
        except (Outdated, Refused) as raised:
            error = raised
        end = start
    if error is not None:
        raise error
