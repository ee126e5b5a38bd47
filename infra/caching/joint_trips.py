"""One round trip with several servers: it writes to all of them before it reads from any.

So all work at the same time, and the caller waits once.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.caching.connected_server import ConnectedServer, TripPart
from infra.caching.connection import Command

# After this share of the time-out, each further wait is cut so that all waits together end with it.
# Before that a system call for each server is saved.
LATE = 0.1


def exchange_jointly(calls: Mapping[ConnectedServer, Sequence[Command]]) -> list[list[Any]]:
    """The replies of each server, as `ConnectedServer.exchange`.

    Raises when one of them is away or refuses writes; the others have run the commands all the
    same, so that what must be removed from them is gone. Cost: one round trip. The servers together
    have one time-out to answer, and a tenth more.
    """
    errors = list[RedisError]()
    parts: list[TripPart | None] = []
    try:
        for server, commands in calls.items():
            parts.append(_send(server, commands, errors))
        replies = [*_receive([*calls], parts, errors)]
    except BaseException:
        # Replies may be unread: a later call must never take them for its own.
        for part in parts:
            if part is not None:
                part.connection.close()
        raise
    for part, own in zip(parts, replies, strict=True):
        if part is not None and part.accept is not None and own:
            part.accept(own.pop())
    if errors:
        raise errors[0]
    return replies


def _send(
    server: ConnectedServer, commands: Sequence[Command], errors: list[RedisError]
) -> TripPart | None:
    try:
        part = server.part(commands)
        part.connection.send(part.commands)
    except (RedisConnectionError, RedisTimeoutError) as error:
        server.avoid()
        errors.append(error)
        return None
    return part


def _receive(
    servers: Sequence[ConnectedServer], parts: Sequence[TripPart | None], errors: list[RedisError]
) -> Iterator[list[Any]]:
    """Nothing of servers that do not answer."""
    sent_at, timeout_s = time.monotonic(), servers[0].timeout_s
    for server, part in zip(servers, parts, strict=True):
        is_late = timeout_s is not None and time.monotonic() > sent_at + LATE * timeout_s
        until_s = sent_at + timeout_s if is_late and timeout_s is not None else None
        try:
            yield part.connection.receive(len(part.commands), until_s) if part else []
        except (RedisConnectionError, RedisTimeoutError) as error:
            server.avoid()
            errors.append(error)
            yield []
