"""One round trip with several servers: it writes to all of them before it reads from any.

So all work at the same time, and the caller waits once.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.caching.connected_server import ConnectedServer, TripPart
from infra.caching.connection import Command

# After this share of the time-out, each further wait is cut so that all waits together end with it.
# Before that a system call for each server is saved.
LATE = 0.1


def exchange_jointly(calls: Mapping[ConnectedServer, Sequence[Command]]) -> list[list[Any]]:
    """The replies of each server, as `ConnectedServer.exchange`.

    Raises when one of them is away or refuses writes; all may have run the commands all the same.
    Cost: one round trip. The servers together have one time-out to answer, and a tenth more.
    """
    parts: list[TripPart] = []
    try:
        for server, commands in calls.items():
            parts.append(server.part(commands))
            parts[-1].connection.send(parts[-1].commands)
        replies = [*_receive(parts, next(iter(calls)).timeout_s)]
    except BaseException:
        # Replies may be unread: a later call must never take them for its own.
        for part in parts:
            part.connection.close()
        raise
    for part, own in zip(parts, replies, strict=True):
        if part.accept is not None:
            part.accept(own.pop())
    return replies


def _receive(parts: Sequence[TripPart], timeout_s: float | None) -> Iterator[list[Any]]:
    sent_at = time.monotonic()
    for part in parts:
        is_late = timeout_s is not None and time.monotonic() > sent_at + LATE * timeout_s
        until_s = sent_at + timeout_s if is_late and timeout_s is not None else None
        yield part.connection.receive(len(part.commands), until_s)
