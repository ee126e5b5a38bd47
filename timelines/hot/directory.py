"""All hot authors of all shards, known to every process.

    timelines.hot:v1:{0}   bytes 0-7 stamp, a new one with every change; then 8 bytes an author
                           while it is read from the shards: a zero byte and 7 random ones

A page asks for the stamp in a round trip it makes anyway. No post of a hot author is filed as
delivered before the author stands here (`announce`), so a page that finds the stamp it knows lacks
nobody.
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
ANNOUNCE = load_script(_LUA / "announce.lua")
LAY = load_script(_LUA / "lay_hot.lua")
SET = key("timelines.hot:v1", 0)
VALIDATOR_BYTES = 8
KEPT_MS = 86_400_000
# Longer than reading the shards can take.
CLAIM_MS = 60_000
_AUTHOR = Struct(">Q")


class HotAuthors(NamedTuple):
    """`stamp` None: not to be remembered."""

    stamp: bytes | None
    ids: tuple[int, ...]


class Directory:
    """What this process knows of the set; shared by its threads."""

    def __init__(self) -> None:
        self._known = HotAuthors(None, ())

    def find(self, stamp: bytes | None) -> HotAuthors:
        """All hot authors. `stamp`: the reply to `stamp_command`, None without Redis.

        Cost: none when the stamp is known; else one round trip, and when Redis has no set one
        query per shard.
        """
        if stamp is None or stamp != self._known.stamp:
            self._known = _load()
        return self._known


def validator_command() -> Command:
    return ("GETRANGE", SET, 0, VALIDATOR_BYTES - 1)


def announce_commands(author_ids: set[int]) -> list[Command]:
    return [ANNOUNCE.on([SET], _AUTHOR.pack(author), make_validator()) for author in author_ids]


def invalidate_command() -> Command:
    """The next page reads the shards."""
    return ("DEL", SET)


def make_validator() -> bytes:
    return b"\1" + secrets.token_bytes(VALIDATOR_BYTES - 1)


def _load() -> HotAuthors:
    try:
        data = redis().call("GET", SET)
        if data and data[0]:
            return HotAuthors(data[:VALIDATOR_BYTES], _authors(data[VALIDATOR_BYTES:]))
        return _load_from_shards()
    except RedisError:
        return HotAuthors(None, _read_shards())


def _load_from_shards() -> HotAuthors:
    claim, stamp = b"\0" + secrets.token_bytes(VALIDATOR_BYTES - 1), make_validator()
    redis().call("SET", SET, claim, "PX", CLAIM_MS)
    authors = _read_shards()
    data = stamp + b"".join(_AUTHOR.pack(author) for author in authors)
    is_laid = redis().call(*LAY.on([SET], claim, data, KEPT_MS))
    return HotAuthors(stamp if is_laid else None, authors)


def _read_shards() -> tuple[int, ...]:
    shards = scatter({alias: partial(list_hot_authors, alias) for alias in settings.SHARD_ALIASES})
    return tuple(author for authors in shards.values() for author in authors)


def _authors(data: bytes) -> tuple[int, ...]:
    return tuple(author for (author,) in _AUTHOR.iter_unpack(data))


directory = Directory()
