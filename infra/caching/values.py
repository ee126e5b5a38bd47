"""Cache of whole values, one key an owner, each carrying the version it reflects.

An entry is `version:payload`. A write with an older version than the one stored never lands, so a
slow loader cannot bring the past back.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command, load_script, redis
from infra.caching.keys import key

PUT = load_script(Path(__file__).with_name("lua") / "value_put.lua")
# Longer than any load can take (STATEMENT_TIMEOUT_MS): how long a change guards an absent entry.
TOMBSTONE_MS = 60_000
log = structlog.get_logger()


class Versioned(NamedTuple):
    """A payload and the version it reflects. An empty payload says: there is nothing."""

    version: int
    payload: bytes


Loader = Callable[[Sequence[int]], Mapping[int, Versioned]]


class ValueCache(NamedTuple):
    """What is kept: under which family, for how long, and where it comes from.

    `load(owners)` reads the source and must read the version before, or together with, the value.
    """

    family: str
    ttl_s: int
    load: Loader

    def key(self, owner: int) -> bytes:
        return key(self.family, owner)

    def keys(self, owners: Iterable[int]) -> list[bytes]:
        """For callers who gather several caches' reads into one MGET; then `complete`."""
        return [self.key(owner) for owner in owners]

    def load_many(self, owners: Iterable[int]) -> dict[int, bytes]:
        """Payload by owner; owners without a value are missing.

        Cost: one round trip; for misses one source read and one more round trip. With Redis away
        everything comes from the source.
        """
        wanted = list(dict.fromkeys(owners))
        try:
            replies = redis().call("MGET", *self.keys(wanted)) if wanted else []
        except RedisError:
            replies = [None] * len(wanted)
        return self.complete(dict(zip(wanted, replies, strict=True)))

    def complete(self, replies: Mapping[int, bytes | None]) -> dict[int, bytes]:
        """Turns raw replies into payloads, reading the source for those that were missing."""
        found = {o: raw.partition(b":")[2] for o, raw in replies.items() if raw is not None}
        missing = [owner for owner, raw in replies.items() if raw is None]
        if missing:
            loaded = self.load(missing)
            self.put_many(loaded)
            found |= {owner: entry.payload for owner, entry in loaded.items()}
        return {owner: payload for owner, payload in found.items() if payload}

    def put_many(self, entries: Mapping[int, Versioned]) -> bool:
        """Stores entries that are not older than what is there; False when Redis is away."""
        try:
            redis().run([self.put_command(owner, entry) for owner, entry in entries.items()])
        except RedisError as error:
            log.warning("cache.put_failed", family=self.family, error=str(error))
            return False
        return True

    def put_command(self, owner: int, entry: Versioned) -> Command:
        ttl_ms = jittered_ms(self.ttl_s)
        return PUT.on([self.key(owner)], entry.version, entry.payload, ttl_ms)


def jittered_ms(ttl_s: int) -> int:
    """The time to live, up to a tenth shorter, so that entries made together part ways."""
    return int(ttl_s * 1000 * random.uniform(0.9, 1.0))
