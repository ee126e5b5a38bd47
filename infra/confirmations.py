"""Confirmations: what a request takes for right, its next round trip confirms.

A request that reads may begin with what its process remembers, such as who has the access token.
The question whether that still holds goes out with the first commands that the request sends
anyway, so it costs no round trip of its own. If it does not hold, the request begins again.

    with confirming():
        answer = serve()    # may call `confirm_later`
        confirm_now()       # a request that has asked Redis nothing asks at its end
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from infra.evidence import Command

Run = Callable[[Sequence[Command]], list[Any]]


class Outdated(BaseException):
    """Not an Exception: no handler of errors may take it for a failed request."""


class Confirmation(NamedTuple):
    """`reply`: of Redis, if what was taken for right still is. `forget`: called if it is not.

    `ask`: gets the reply in a round trip of its own. Raises: RedisError.
    """

    command: Command
    reply: Any
    forget: Callable[[], object]
    ask: Callable[[], Any]


class _Request:
    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: Confirmation | None = None


_current: ContextVar[_Request | None] = ContextVar("tideline_confirmations", default=None)


@contextmanager
def confirming() -> Iterator[None]:
    """In the block a request may take things for right. Call `confirm_now` before its answer."""
    token = _current.set(_Request())
    try:
        yield
    finally:
        _current.reset(token)


def confirm_later(confirmation: Confirmation) -> bool:
    """Whether the request will confirm this. False: it cannot, so ask now."""
    request = _current.get()
    if request is None or request.waiting is not None:
        return False
    request.waiting = confirmation
    return True


def run_confirming(run: Run, commands: Sequence[Command]) -> list[Any]:
    """`run(commands)`, with the question of the request if it has one. Raises: Outdated, what `run`
    raises; then the question stays. Cost: less than 0.1 us without a question."""
    request = _current.get()
    waiting = request.waiting if request is not None else None
    if request is None or waiting is None:
        return run(commands)
    reply, *replies = run([waiting.command, *commands])
    request.waiting = None
    if reply != waiting.reply:
        waiting.forget()
        raise Outdated
    return replies


def confirm_now() -> None:
    """Asks what nothing has asked yet. Raises: Outdated, also while Redis is away."""
    request = _current.get()
    waiting = request.waiting if request is not None else None
    if request is None or waiting is None:
        return
    request.waiting = None
    try:
        is_right = waiting.ask() == waiting.reply
    except RedisError:
        is_right = False
    if not is_right:
        waiting.forget()
        raise Outdated
