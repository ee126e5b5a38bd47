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
from infra.caching.hot_values import HotReading, HotValues
from infra.caching.keys import key
from infra.caching.reads import count_reads

PUT = load_script(Path(__file__).with_name("lua") / "value_put.lua")
# Longer than any load can take (STATEMENT_TIMEOUT_MS): how long a change guards an absent entry.
TOMBSTONE_MS = 60_000
log = structlog.get_logger()


class Versioned(NamedTuple):
    """A payload and the version it reflects. An empty payload says: there is nothing."""

    version: int
    payload: bytes


Loader = Callable[[Sequence[int]], Mapping[int, Versioned]]


class ValueCache:
    """What is kept: under which family, for how long, and where it comes from.

    `load(owners)` reads the source and must read the version before, or together with, the value.
    `hot` has copies of what is read most: whoever gathers reads may `split` by it, and `finish`.
    """

    def __init__(self, family: str, ttl_s: int, load: Loader) -> None:
        self.family = family
        self.ttl_s = ttl_s
        self.load = load
        self.hot: HotValues[int, bytes] = HotValues(family, self.key)

    def key(self, owner: int) -> bytes:
        return key(self.family, owner)

    def keys(self, owners: Iterable[int]) -> list[bytes]:
        """For callers who gather several caches' reads into one MGET; then `complete`."""
        return [self.key(owner) for owner in owners]

    def load_many(self, owners: Iterable[int]) -> dict[int, bytes]:
        """Payload by owner; owners without a value are missing. Hot ones are HOT_COPY_MS old.

        Cost: one round trip, none when all are hot; for misses one source read and one more round
        trip. With Redis away everything comes from the source.
        """
        reading = self.hot.split(list(dict.fromkeys(owners)))
        missing = reading.missing
        try:
            replies = redis().call("MGET", *self.keys(missing)) if missing else []
        except RedisError:
            replies = [None] * len(missing)
        return self.finish(reading, dict(zip(missing, replies, strict=True)))

    def finish(
        self, reading: HotReading[int, bytes], replies: Mapping[int, bytes | None]
    ) -> dict[int, bytes]:
        """Payloads of what was split, from the raw replies for what was missing of it."""
        if not replies:
            return _existing(reading.known)
        found = self._fill(replies)
        self.hot.keep(found, reading.asked_at)
        return _existing(reading.known | found)

    def complete(self, replies: Mapping[int, bytes | None]) -> dict[int, bytes]:
        """Turns raw replies into payloads, reading the source for those that were missing."""
        return _existing(self._fill(replies))

    def refresh(self, entries: Mapping[int, Versioned]) -> None:
        """Stores what changed, and drops this process's own copies. One round trip.

        Raises: RedisError, so that a consumer is run again.
        """
        redis().run([self.put_command(owner, entry) for owner, entry in entries.items()])
        self.hot.drop(self.keys(entries))

    def _fill(self, replies: Mapping[int, bytes | None]) -> dict[int, bytes]:
        """An empty payload for what does not exist."""
        found = {o: raw.partition(b":")[2] for o, raw in replies.items() if raw is not None}
        count_reads(self.family, "redis", len(found), len(replies) - len(found))
        missing = [owner for owner, raw in replies.items() if raw is None]
        if missing:
            loaded = self.load(missing)
            self.put_many(loaded)
            found |= {owner: entry.payload for owner, entry in loaded.items()}
        return found

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


def _existing(payloads: Mapping[int, bytes]) -> dict[int, bytes]:
    return {owner: payload for owner, payload in payloads.items() if payload}


def jittered_ms(ttl_s: int) -> int:
    """The time to live, up to a tenth shorter, so that entries made together part ways."""
    return int(ttl_s * 1000 * random.uniform(0.9, 1.0))
