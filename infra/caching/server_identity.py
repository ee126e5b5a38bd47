"""Makes sure that the data in Redis are of the server run that this process is connected to.

    function library tideline_{db}   its text has the replication id of the run that wrote the data

A server has a new replication id after a restart, also with an old dump, and after a promotion.
Its data may then lack the latest writes, and nothing in them shows it. So each new connection
compares the ids before it sends anything else, and empties the database if they differ. A library
is the place for the id: it is dumped and replicated like data, but never evicted.
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from prometheus_client import Counter
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from infra.caching.connection import Command
from infra.read_limits import UNREAD_AFTER_S
from infra.telemetry.reached_branches import reached

CLEAR: Command = ("FLUSHDB", "ASYNC")
INFO: Command = ("INFO", "replication")
EMPTIED = Counter(
    "tideline_redis_emptied_total",
    "Times that Redis had data of another server run, and was emptied",
)
_FACT = re.compile(rb"^(role|master_replid):(\w+)", re.MULTILINE)
log = structlog.get_logger()
Ask = Callable[[Sequence[Command]], list[Any]]
_forgetting: list[Callable[[], None]] = []


def on_other_server(forget: Callable[[], None]) -> None:
    """`forget` is called when this process finds another server run than before."""
    _forgetting.append(forget)


class KnownServer:
    """The server run that this process is connected to; of a cluster, one of its nodes.

    `connection_age`: connections from before its last change must not be used. They may be to a
    server that was replaced, and that still answers.
    """

    def __init__(self) -> None:
        self._identity: bytes | None = None
        self.connection_age = 0

    def outdate_connections(self) -> None:
        self.connection_age += 1

    def greet(self, database: int, ask: Ask) -> None:
        """Begins a connection. Raises RedisConnectionError if the server must not be used.

        Cost: one round trip, and two more to empty the database. Before that it waits until no
        process reads from the server before this one (connected_server.py).
        """
        library = f"tideline_{database}"
        describe = ("FUNCTION", "LIST", "LIBRARYNAME", library, "WITHCODE")
        info, libraries = ask_or_raise(ask, INFO, describe)
        facts = dict(_FACT.findall(info))
        if facts.get(b"role") != b"master":
            raise RedisConnectionError("this server is a replica: its data may be old")
        identity = facts[b"master_replid"]
        if identity not in text_of(libraries):
            time.sleep(UNREAD_AFTER_S)
            # Another process may have emptied it in the meantime, and has written since.
            if identity not in text_of(ask_or_raise(ask, describe)[0]):
                _empty(ask, database, library, identity)
        self._note(identity)

    def _note(self, identity: bytes) -> None:
        known, self._identity = self._identity, identity
        if known not in (None, identity):
            reached("redis.other_run")
            self.outdate_connections()
            for forget in _forgetting:
                forget()


def _empty(ask: Ask, database: int, library: str, identity: bytes) -> None:
    reached("redis.emptied")
    log.warning("redis.emptied", database=database, identity=identity.decode())
    EMPTIED.inc()
    ask_or_raise(ask, CLEAR, ("FUNCTION", "LOAD", "REPLACE", code_of(library, identity.decode())))


def ask_or_raise(ask: Ask, *commands: Command) -> list[Any]:
    """The replies. Raises RedisConnectionError, also for a reply that is an error."""
    replies = ask(commands)
    for reply in replies:
        if isinstance(reply, RedisError):
            raise RedisConnectionError(f"the origin of the data is unknown: {reply}")
    return replies


def code_of(library: str, note: str) -> str:
    """Of a library that keeps a note. It needs a function, which nothing calls."""
    function = f"function() return '{note}' end"
    return f"#!lua name={library}\nredis.register_function('{library}', {function})"


def text_of(libraries: Sequence[Sequence[bytes]]) -> bytes:
    """The code of the library with its note; empty if there is none."""
    return bytes(libraries[0][-1]) if libraries else b""
