"""One round trip for the commands of several functions.

After a commit several functions bring caches up to date, and each knows its own commands. Inside
`one_round_trip` they are collected and sent together, in the order in which they came.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from infra.caching.client import Command, redis
from infra.shared_thread import need_own_thread

# Gets the replies to the commands; None if the round trip failed.
Then = Callable[[Sequence[Any] | None], object]


class _Part(NamedTuple):
    commands: Sequence[Command]
    then: Then


class _Parts(NamedTuple):
    """`last`: has a round trip of its own after `first`.

    The nodes of a cluster work at the same time, and a script that Redis does not know runs after
    the other commands of its round trip.
    """

    first: list[_Part]
    last: list[_Part]


_collecting = threading.local()


@contextmanager
def one_round_trip() -> Iterator[None]:
    """At the end of the block, sends what `run_together` got inside it. Raises: RedisError.

    After an error in the block nothing is sent. Inside another such block it has a round trip of
    its own: a change that a consumer caused is kept by itself when Redis is away.
    """
    need_own_thread()  # the block collects from a thread, and a shared one has other requests
    outer = _parts()
    parts = _collecting.parts = _Parts([], [])
    try:
        yield
    except Exception:
        _finish([*parts.first, *parts.last], None)
        raise
    finally:
        _collecting.parts = outer
    # The last trip is sent also after an error of a `then`: else validators would stay that end
    # what the first trip has changed.
    with ExitStack() as stack:
        for trip in reversed(parts):  # a stack calls the last one first
            if trip:
                stack.callback(_send, trip)


def run_together(
    commands: Sequence[Command], then: Then = lambda _: None, *, is_last: bool = False
) -> None:
    """Sends the commands at the end of the `one_round_trip` block; without a block, at once.

    `then` runs after the round trip, also if it failed: Redis may have run the commands even if no
    reply came. `is_last`: they are sent in a second round trip, as the end of a
    validator must. Raises: RedisError, without a block.
    """
    part, parts = _Part(commands, then), _parts()
    if parts is None:
        _send([part])
    else:
        (parts.last if is_last else parts.first).append(part)


def _parts() -> _Parts | None:
    return getattr(_collecting, "parts", None)


def _send(parts: Sequence[_Part]) -> None:
    replies: list[Any] | None = None
    try:
        replies = redis().run([command for part in parts for command in part.commands])
    finally:
        _finish(parts, replies)


def _finish(parts: Sequence[_Part], replies: Sequence[Any] | None) -> None:
    """Calls `then` of every part. An error of one is raised after the others were called."""
    with ExitStack() as stack:
        end = sum(len(part.commands) for part in parts)
        for part in reversed(parts):  # a stack calls the last one first
            start = end - len(part.commands)
            stack.callback(part.then, None if replies is None else replies[start:end])
            end = start
