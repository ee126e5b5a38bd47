"""Cache of whole values, one key an owner, each carrying the version it reflects.

An entry is `version:fresh until:payload`, the time in Unix seconds. A write with an older version
than the one stored never lands, so a slow loader cannot bring the past back. Past its soft time an
entry is still shown, while one request of all processes reads the source; its hard time is the
key's. Of those who find nothing one reads the source too, and the others wait for it.
"""

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command, load_script, redis
from infra.caching.hot_values import HotReply, HotValues
from infra.caching.invalidation import forget_in_process, invalidation_command, register_copies
from infra.caching.keys import key
from infra.caching.loading import Loader, SharedLoads
from infra.caching.loading import Versioned as Versioned
from infra.caching.metrics import count_error, count_reads

# The part of an entry's time in which it is not questioned.
SOFT_SHARE = 0.75
WRITE_VALUE = load_script(Path(__file__).with_name("lua") / "value_put.lua")
# Longer than any load can take (STATEMENT_TIMEOUT_MS): how long a change guards an absent entry.
TOMBSTONE_MS = 60_000
log = structlog.get_logger()


class StoredValue(NamedTuple):
    """What Redis has of an owner."""

    fresh_until: int
    payload: bytes


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
        self._loading = SharedLoads(family, load, self.write_many, self._look)
        register_copies(family, self)

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
        self, reading: HotReply[int, bytes], replies: Mapping[int, bytes | None]
    ) -> dict[int, bytes]:
        """Payloads of what was split, from the raw replies for what was missing of it."""
        if not replies:
            return _existing(reading.known)
        found = self._fill(replies)
        self.hot.store(found, reading.asked_at)
        return _existing(reading.known | found)

    def complete(self, replies: Mapping[int, bytes | None]) -> dict[int, bytes]:
        """Turns raw replies into payloads, reading the source for those that were missing."""
        return _existing(self._fill(replies))

    def refresh(self, entries: Mapping[int, Versioned]) -> None:
        """Stores what changed, and has all processes drop their copies. One round trip.

        Raises: RedisError, so that a consumer is run again.
        """
        if not entries:
            return
        owners = list(entries)
        self._loading.forget(owners)
        puts = [self.write_command(owner, entry) for owner, entry in entries.items()]
        try:
            redis().run([*puts, invalidation_command(self.family, owners)])
        finally:  # without an answer it may have been done all the same
            forget_in_process(self.family, owners)

    def forget(self, owners: Sequence[int]) -> None:
        """These changed: nobody joins a load from before, or is shown a copy from before."""
        self._loading.forget(owners)
        self.hot.forget_names(self.keys(owners))

    def forget_all(self) -> None:
        self._loading.forget_all()
        self.hot.clear()

    def _fill(self, replies: Mapping[int, bytes | None]) -> dict[int, bytes]:
        """An empty payload for what does not exist."""
        entries = {owner: read_entry(raw) for owner, raw in replies.items() if raw is not None}
        count_reads(self.family, "redis", len(entries), len(replies) - len(entries))
        found = {owner: entry.payload for owner, entry in entries.items()}
        now_s = time.time()
        stale = [owner for owner, entry in entries.items() if entry.fresh_until < now_s]
        if stale:
            found |= self._loading.load_stale(stale)
        missing = [owner for owner, raw in replies.items() if raw is None]
        if missing:
            found |= self._loading.load_missing(missing)
        return found

    def _look(self, owners: Sequence[int]) -> dict[int, bytes]:
        """What is there by now, empty payloads too. Raises RedisError."""
        replies = redis().call("MGET", *self.keys(owners))
        laid = zip(owners, replies, strict=True)
        return {owner: read_entry(raw).payload for owner, raw in laid if raw is not None}

    def write_many(self, entries: Mapping[int, Versioned], after: Sequence[Command] = ()) -> bool:
        """Stores entries that are not older than what is there, and runs what comes `after`.

        False when Redis is away. One round trip.
        """
        puts = [self.write_command(owner, entry) for owner, entry in entries.items()]
        try:
            redis().run([*puts, *after])
        except RedisError as error:
            log.warning("cache.put_failed", family=self.family, error=str(error))
            count_error(self.family)
            return False
        return True

    def write_command(self, owner: int, entry: Versioned) -> Command:
        ttl_ms = jittered_ms(self.ttl_s)
        fresh_until = int(time.time() + ttl_ms * SOFT_SHARE / 1000)
        payload = b"%d:%b" % (fresh_until, entry.payload)
        return WRITE_VALUE.on([self.key(owner)], entry.version, payload, ttl_ms)


def read_entry(raw: bytes) -> StoredValue:
    """Of a raw reply that is not None."""
    _, fresh_until, payload = raw.split(b":", 2)
    return StoredValue(int(fresh_until), payload)


def _existing(payloads: Mapping[int, bytes]) -> dict[int, bytes]:
    return {owner: payload for owner, payload in payloads.items() if payload}


def jittered_ms(ttl_s: int) -> int:
    """The time to live, up to a tenth shorter, so that entries made together part ways."""
    return int(ttl_s * 1000 * random.uniform(0.9, 1.0))
