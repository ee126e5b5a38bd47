"""Load tokens: Redis stores what a loader read only if nothing happened since the load began.

    <key of the entry>:load   random token of the loads in progress, for TOKEN_MS

A loader creates the token before it reads the source. If another load has created one, it uses that
one: a token means that the entry has not changed since the token was created. The loader's write
succeeds only while Redis has this token, and deletes it. Every change of the entry deletes the
token as well. So a load from before a change writes nothing, and neither does one from before a
flush, or one that took longer than TOKEN_MS. Its own caller still gets a correct answer.
"""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.metrics import count_error
from infra.caching.scripts import load_script
from infra.telemetry.reached_branches import reached

_LUA = Path(__file__).with_name("lua")
END_LOAD = _LUA / "end_load.lua"
RELEASE = load_script(END_LOAD, _LUA / "load_release.lua")
# Longer than any load (STATEMENT_TIMEOUT_MS): a longer one would not be cached.
TOKEN_MS = 60_000
TOKEN_BYTES = 8
# What the scripts return that write an entry, if its token is gone.
REFUSED = 0
log = structlog.get_logger()


class LoadTokens(NamedTuple):
    """`by_entry`: the token of each load, by the key of the entry; empty without Redis.

    `begun`: entries that no other loader was loading. `replies`: to the caller's own commands.
    """

    by_entry: Mapping[bytes, bytes]
    begun: frozenset[bytes]
    replies: Sequence[Any] = ()

    def of(self, entry_key: bytes) -> bytes:
        """The token, for the script that writes the entry. Empty: Redis refuses the write."""
        return self.by_entry.get(entry_key, b"")

    def release_commands(self, entry_keys: Sequence[bytes]) -> list[Command]:
        """Ends loads that write nothing, so that other readers do not wait for them."""
        return [
            RELEASE.on([token_key(key)], token) for key in entry_keys if (token := self.of(key))
        ]


def token_key(entry_key: bytes) -> bytes:
    """On the cluster node of the entry, because both have the same owner in braces."""
    return entry_key + b":load"


def make_token() -> bytes:
    return secrets.token_bytes(TOKEN_BYTES)


def begin_loads(
    family: str,
    entry_keys: Sequence[bytes],
    own: bytes | None = None,
    reads: Sequence[Command] = (),
) -> LoadTokens:
    """Tokens for loads of these entries. Call it before the source is read.

    `own`: the token of entries that no other loader is loading; None: a new one. `reads`: commands
    that run after the tokens were created. Without Redis there are no tokens. Cost: one round trip.
    """
    own = own or make_token()
    commands: list[Command] = [
        ("SET", token_key(key), own, "NX", "GET", "PX", TOKEN_MS) for key in entry_keys
    ]
    try:
        replies = redis().run([*commands, *reads])
        others = dict(zip(entry_keys, replies, strict=False))
    except RedisError as error:
        log.warning("cache.load_not_begun", family=family, error=str(error))
        count_error(family)
        return LoadTokens({}, frozenset())
    begun = frozenset(key for key, other in others.items() if other is None)
    tokens = {key: other or own for key, other in others.items()}
    return LoadTokens(tokens, begun, replies[len(commands) :])


def write_loaded(family: str, commands: Sequence[Command]) -> bool:
    """Runs the commands that write what a loader read. Without Redis the next reader loads again.

    False: Redis refused one of them, or is away. Cost: one round trip, none without commands.
    """
    try:
        if REFUSED in redis().run(commands):
            reached("cache.load_token_lost")
            return False
    except RedisError as error:
        log.warning("cache.write_failed", family=family, error=str(error))
        count_error(family)
        return False
    return True
