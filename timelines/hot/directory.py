"""All hot authors of all shards, copied to every process.

    timelines.hot:v1:{0}   bytes 0-7 validator, a new one with every change; then 8 bytes an author
                           while it is read from the shards: a zero byte and 7 random ones (a claim)

Each change of the set is an entry of the invalidation log, which a page reads in a round trip that
it makes anyway. The drain adds an author to the set (`add_hot_authors`) before it files a post of
this author as delivered. So a page that has read the log misses no hot author.
"""

import secrets
import time
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from django.conf import settings
from redis.exceptions import RedisError

from infra.api.ids import MAX_ACCOUNT_ID
from infra.caching.client import Command, redis
from infra.caching.decoding import decode
from infra.caching.invalidation_log import (
    LOG,
    LOG_KEY,
    InvalidationLog,
    LogEntryKind,
    LogOffset,
    LogQuestion,
    log_command,
    oldest_ms,
)
from infra.caching.keys import key
from infra.caching.load_tokens import LoadTokens
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, Replies
from infra.caching.scripts import load_script
from infra.read_window import note_change, wait_for_windows
from infra.sharding.scatter import scatter
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
_CHANGED = LogEntryKind.HOT_AUTHORS.value


class HotAuthors(NamedTuple):
    """`validator` None: the set must not be cached."""

    validator: bytes | None
    ids: tuple[int, ...]


class HotAuthorDirectory:
    """This process's copy of the set, shared by its threads."""

    def __init__(self, log: InvalidationLog) -> None:
        self._cached: HotAuthors | None = None
        self._log = log
        log.register(LogEntryKind.HOT_AUTHORS, lambda _: self._forget())
        log.register_memory(self._forget)

    @property
    def cached(self) -> HotAuthors | None:
        """The copy, for a request that has read the log. None: the log named a change since."""
        return self._cached

    def ask(self, log: LogQuestion, known: HotAuthors | None) -> Question[HotAuthors]:
        """All hot authors at the moment of the round trip that asked the log.

        `log`, and then `known`, the copy: taken before that round trip. A page that has read its
        timeline in it must merge these authors: another thread may have dropped the copy since,
        because one of them is not hot any more. Cost: one command without a copy; one query per
        shard when Redis has no set.
        """
        commands: list[Command] = [] if known else [("GET", SET)]
        return Question(commands, partial(self._choose, log, known))

    def _choose(self, log: LogQuestion, known: HotAuthors | None, replies: Replies) -> HotAuthors:
        if known is not None and not log.names(LogEntryKind.HOT_AUTHORS):
            return known
        return self._load(log.value, replies or ())

    def load(self, offset: LogOffset | None) -> HotAuthors:
        """All hot authors. `offset`: of the log in this request; None without Redis.

        Cost: none from memory; else one round trip, and one query per shard when Redis has no set.
        """
        return self._load(offset, ())

    def _load(self, offset: LogOffset | None, replies: Sequence[bytes | None]) -> HotAuthors:
        cached = self._cached
        if cached is not None and offset is not None:
            return cached
        loaded = _unpack_set(replies[0] if replies else None)
        if loaded is None:
            loaded = _loads.load_missing([SET])[SET]
        if loaded.validator is not None:
            self._log.keep(offset, partial(self._store, loaded))
        return loaded

    def _store(self, loaded: HotAuthors) -> None:
        self._cached = loaded

    def _forget(self) -> None:
        self._cached = None


def add_hot_authors(author_ids: Collection[int]) -> None:
    """Adds authors to the set, and logs what is new in it. Raises: RedisError. One round trip.

    It returns when no page is made without them any more (read_window.py).
    """
    minimum, began = oldest_ms(time.time()), time.monotonic()
    redis().run(
        [
            ADD.on([SET, LOG_KEY], _AUTHOR.pack(author), make_validator(), _CHANGED, minimum)
            for author in author_ids
        ]
    )
    note_change()
    wait_for_windows(began)


def delete_hot_authors() -> None:
    """Deletes the set and logs it; the next page reads the shards. Raises: RedisError."""
    redis().run([("DEL", SET), log_command(LogEntryKind.HOT_AUTHORS, b"", time.time())])


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
    shards = scatter({alias: partial(list_hot_authors, alias) for alias in settings.SHARD_ALIASES})
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
directory = HotAuthorDirectory(LOG)
