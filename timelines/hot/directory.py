"""All hot authors of all shards, copied to every process.

    timelines.hot:v1:{0}   bytes 0-7 validator, a new one with every change; then 8 bytes an author
                           while it is read from the shards: a zero byte and 7 random ones (a claim)

A page asks for the validator in a round trip that it makes anyway. The drain adds an author to the
set (`add_commands`) before it files a post of this author as delivered. So a page whose copy has
the current validator misses no hot author.
"""

import secrets
from functools import partial
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from django.conf import settings
from redis.exceptions import RedisError

from infra.caching.client import Command, load_script, redis
from infra.caching.keys import key
from infra.sharding.scatter import scatter
from timelines.hot.queries.hot_authors import list_hot_authors

_LUA = Path(__file__).with_name("lua")
ADD = load_script(_LUA / "add_hot_author.lua")
WRITE = load_script(_LUA / "write_hot_authors.lua")
SET = key("timelines.hot:v1", 0)
VALIDATOR_BYTES = 8
TTL_MS = 86_400_000
# Longer than reading the shards can take.
CLAIM_MS = 60_000
_AUTHOR = Struct(">Q")


class HotAuthors(NamedTuple):
    """`validator` None: the set must not be cached."""

    validator: bytes | None
    ids: tuple[int, ...]


class HotAuthorDirectory:
    """This process's copy of the set, shared by its threads."""

    def __init__(self) -> None:
        self._cached = HotAuthors(None, ())

    def load(self, validator: bytes | None) -> HotAuthors:
        """All hot authors. `validator`: the reply to `validator_command`; None without Redis.

        Cost: none when the copy has this validator; else one round trip, and one query per shard
        when Redis has no set.
        """
        if validator is None or validator != self._cached.validator:
            self._cached = _load()
        return self._cached


def validator_command() -> Command:
    return ("GETRANGE", SET, 0, VALIDATOR_BYTES - 1)


def add_commands(author_ids: set[int]) -> list[Command]:
    return [ADD.on([SET], _AUTHOR.pack(author), make_validator()) for author in author_ids]


def delete_command() -> Command:
    """Deletes the set; the next page reads the shards."""
    return ("DEL", SET)


def make_validator() -> bytes:
    return b"\1" + secrets.token_bytes(VALIDATOR_BYTES - 1)


def _load() -> HotAuthors:
    try:
        data = redis().call("GET", SET)
        if data and data[0]:
            return HotAuthors(data[:VALIDATOR_BYTES], _unpack(data[VALIDATOR_BYTES:]))
        return _load_from_shards()
    except RedisError:
        return HotAuthors(None, _read_shards())


def _load_from_shards() -> HotAuthors:
    claim, validator = b"\0" + secrets.token_bytes(VALIDATOR_BYTES - 1), make_validator()
    redis().call("SET", SET, claim, "PX", CLAIM_MS)
    authors = _read_shards()
    data = validator + b"".join(_AUTHOR.pack(author) for author in authors)
    is_written = redis().call(*WRITE.on([SET], claim, data, TTL_MS))
    return HotAuthors(validator if is_written else None, authors)


def _read_shards() -> tuple[int, ...]:
    shards = scatter({alias: partial(list_hot_authors, alias) for alias in settings.SHARD_ALIASES})
    return tuple(author for authors in shards.values() for author in authors)


def _unpack(data: bytes) -> tuple[int, ...]:
    return tuple(author for (author,) in _AUTHOR.iter_unpack(data))


directory = HotAuthorDirectory()
