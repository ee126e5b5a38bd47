"""All hot authors of all shards, under one key.

    timelines.hot:v1:{0}   bytes 0-7 validator, a new one with every change; then 8 bytes an author
                           while it is read from the shards: a zero byte and 7 random ones (a claim)

A page reads the set in its first round trip, before its timeline. The drain adds an author to the
set (`add_hot_authors`) before it files a post of this author as delivered. So no page misses a hot
author.
"""

import secrets
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from redis.exceptions import RedisError

from infra.api.ids import MAX_ACCOUNT_ID
from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.load_tokens import LoadTokens
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, Replies, answer
from infra.caching.scripts import load_script
from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from timelines.hot.queries.hot_authors import list_hot_authors

_LUA = Path(__file__).with_name("lua")
ADD = load_script(_LUA / "add_hot_author.lua")
WRITE = load_script(_LUA / "write_hot_authors.lua")
FAMILY = "timelines.hot:v1"
SET = key(FAMILY, 0)
VALIDATOR_BYTES = 8
# The first byte says which of the two is stored.
CLAIM_BYTE, VALIDATOR_BYTE = b"\0", b"\1"
TTL_MS = 86_400_000
# Longer than reading the shards can take.
CLAIM_MS = 60_000
_AUTHOR = Struct(">Q")


class HotAuthors(NamedTuple):
    """`validator` None: the set must not be cached."""

    validator: bytes | None
    ids: tuple[int, ...]


def ask_hot_authors() -> Question[HotAuthors]:
    """All hot authors at the moment of the round trip.

    A page must ask for them before it asks for its timeline: an author who becomes hot in between
    has no post yet that timelines lack. Cost: one command; one query per shard when Redis has no
    set.
    """
    return Question([("GET", SET)], _read_set)


def load_hot_authors() -> HotAuthors:
    """As `ask_hot_authors`, in a round trip of its own."""
    return answer(ask_hot_authors())


def _read_set(replies: Replies) -> HotAuthors:
    authors = _unpack_set(replies[0]) if replies else None
    return authors or _loads.load_missing([SET])[SET]


def add_hot_authors(author_ids: Collection[int]) -> None:
    """Adds authors to the set. Raises: RedisError. One round trip."""
    redis().run([ADD.on([SET], _AUTHOR.pack(author), make_validator()) for author in author_ids])


def delete_hot_authors() -> None:
    """Deletes the set; the next page reads the shards. Raises: RedisError."""
    redis().call("DEL", SET)


def make_validator() -> bytes:
    return VALIDATOR_BYTE + secrets.token_bytes(VALIDATOR_BYTES - 1)


def _ask_set(_: Sequence[bytes]) -> Question[dict[bytes, HotAuthors]]:
    return Question([("GET", SET)], _decode_replies)


def _decode_replies(replies: Replies) -> dict[bytes, HotAuthors]:
    loaded = _unpack_set(replies[0]) if replies else None
    return {} if loaded is None else {SET: loaded}


def _load(_: Sequence[bytes], tokens: LoadTokens) -> dict[bytes, HotAuthors]:
    try:
        return {SET: _load_from_shards(tokens)}
    except RedisError:
        return {SET: HotAuthors(None, _read_shards())}


def _load_from_shards(tokens: LoadTokens) -> HotAuthors:
    """The claim is on the key of the set, because a hot author is added only to a set that exists.

    So a new hot author ends the claim, and this set is not written.
    """
    claim, validator = CLAIM_BYTE + secrets.token_bytes(VALIDATOR_BYTES - 1), make_validator()
    redis().call("SET", SET, claim, "PX", CLAIM_MS)
    authors = _read_shards()
    data = validator + b"".join(_AUTHOR.pack(author) for author in authors)
    write = WRITE.on([SET], claim, data, TTL_MS)
    is_written = redis().run([write, *tokens.release_commands([SET])])[0]
    return HotAuthors(validator if is_written else None, authors)


def _read_shards() -> tuple[int, ...]:
    shards = scatter({alias: partial(list_hot_authors, alias) for alias in shard_aliases()})
    return tuple(author for authors in shards.values() for author in authors)


def _unpack_set(data: bytes | None) -> HotAuthors | None:
    """None: there is no set, or a process reads it from the shards, or it is undecodable."""
    is_claim = data is not None and data[:1] == CLAIM_BYTE
    return None if is_claim else decode(FAMILY, _decode_set, data)


def _decode_set(data: bytes) -> HotAuthors:
    ids = tuple(author for (author,) in _AUTHOR.iter_unpack(data[VALIDATOR_BYTES:]))
    if data[:1] != VALIDATOR_BYTE or max(ids, default=0) > MAX_ACCOUNT_ID:
        raise ValueError("not a set of hot authors")
    return HotAuthors(data[:VALIDATOR_BYTES], ids)


_loads = SharedLoads(FAMILY, bytes, _ask_set, _load)
