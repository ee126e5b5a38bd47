"""Cache of whole values: one key per owner, each with the version that it reflects.

An entry is `version:fresh until:payload`, the time in Unix seconds. Loaders write under load
tokens, so a slow loader cannot restore an old value. Redis refuses a change that is older than the
stored version. After its soft time to live an entry is still used while one process reads the
source. The hard time to live is that of the Redis key. When several requests miss an entry, one
reads the source and the others wait. An entry of a clock that went back since is stale at once:
else it would be used until the clock is there again, as its key would be kept.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from infra.caching.client import Command
from infra.caching.decoding import decode
from infra.caching.hot_values import HotReply, HotValues
from infra.caching.keys import jittered_ms, key, keys
from infra.caching.load_tokens import END_LOAD, LoadTokens, token_key, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.metrics import count_reads
from infra.caching.questions import Question, Replies, answer, ask_keys
from infra.caching.round_trips import run_together
from infra.caching.scripts import load_script
from infra.caching.single_flight import SingleFlight

T = TypeVar("T")
# The soft time to live, as a share of the hard one.
SOFT_SHARE = 0.75
# An entry that ends so long after its time to live is of a clock that went back since. Clocks of
# web servers differ by less.
SKEW_S = 60
# For `map`, which calls no function of Python: an entry is split at its first two colons.
_SPLIT, _COLONS, _TWICE = bytes.split, repeat(b":"), repeat(2)
_LUA = Path(__file__).with_name("lua")
NEWER = _LUA / "newer_value.lua"
WRITE = load_script(END_LOAD, NEWER, _LUA / "value_write.lua")
CHANGE = load_script(NEWER, _LUA / "value_change.lua")


class Versioned(NamedTuple):
    """A payload and the version of the source that it reflects. Empty payload: no such value."""

    version: int
    payload: bytes


Loader = Callable[[Sequence[int]], Mapping[int, Versioned]]


class StoredValue(NamedTuple):
    """An entry as it is in Redis. `fresh_until`: Unix seconds."""

    fresh_until: int
    payload: bytes


class ValueCache:
    """One cache: its family, its time to live, and the loader of its values.

    `check(payload)` is false for a payload that its readers cannot decode: such an entry is a miss.
    `load(owners)` reads the source. It must read the version before the value, or together with it.
    `hot` holds copies of the hot values.
    """

    def __init__(
        self, family: str, ttl_s: int, load: Loader, check: Callable[[bytes], object] = bool
    ) -> None:
        self.family = family
        self.ttl_s = ttl_s
        self.load = load
        self._check = check
        self.hot: HotValues[int, bytes] = HotValues(family, self.key)
        self._loading = SharedLoads(family, self.key, self._ask_payloads, self._load_and_write)
        # For the time without Redis, when there are no load tokens.
        self._flights: SingleFlight[int, Versioned] = SingleFlight()

    def key(self, owner: int) -> bytes:
        return key(self.family, owner)

    def keys(self, owners: Sequence[int]) -> list[bytes]:
        """Override it together with `key`."""
        return keys(self.family, owners)

    def load_many(self, owners: Iterable[int]) -> dict[int, bytes]:
        """Payload by owner, without owners that have none. Hot copies are at most HOT_COPY_MS old.

        Cost: one round trip, none when all are hot. Misses cost one source read and one more round
        trip. Without Redis everything comes from the source.
        """
        return answer(self.ask(self.hot.split(list(dict.fromkeys(owners)))))

    def ask(
        self,
        reading: HotReply[int, bytes],
        existing: Callable[[], Collection[int]] | None = None,
    ) -> Question[dict[int, bytes]]:
        """Payloads of the owners of a `hot.split`, as `load_many`.

        `existing`: called after the round trip. The source is not read for other owners: a caller
        could fill the cache with ids that it invents.
        """
        return self._ask(reading.missing, existing).then(partial(self._merge, reading))

    def ask_uncopied(
        self, owners: Sequence[int], existing: Callable[[], Collection[int]] | None = None
    ) -> Question[dict[int, bytes]]:
        """As `ask`, for callers with copies of their own: the hot tier is neither used nor told."""
        return self._ask_redis(owners, partial(self._complete_existing, owners, existing))

    def ask_cached(self, owners: Sequence[int]) -> Question[dict[int, StoredValue]]:
        """The entries that Redis has, also of owners without a value. The source is not read."""
        return self._ask_redis(owners, partial(self._decode_many, owners))

    def _ask(
        self, owners: Sequence[int], existing: Callable[[], Collection[int]] | None
    ) -> Question[dict[int, bytes]]:
        """Payloads, those of owners without a value too."""
        return self.ask_cached(owners).then(partial(self._complete, owners, existing))

    def _ask_redis(self, owners: Sequence[int], read: Callable[[Replies], T]) -> Question[T]:
        return ask_keys(self.keys(owners), read)

    def _complete_existing(
        self,
        owners: Sequence[int],
        existing: Callable[[], Collection[int]] | None,
        raws: Replies,
    ) -> dict[int, bytes]:
        payloads = self._read_all(raws) if raws else None
        if payloads is None:
            cached = self._decode_many(owners, raws)
            return _existing(self._complete(owners, existing, cached))
        read = dict(zip(owners, payloads, strict=True))
        return read if all(payloads) else _existing(read)

    def _complete(
        self,
        owners: Sequence[int],
        existing: Callable[[], Collection[int]] | None,
        cached: Mapping[int, StoredValue],
    ) -> dict[int, bytes]:
        if existing is None or not owners:
            return self._fill(owners, cached)
        wanted = existing()
        return self._fill([owner for owner in owners if owner in wanted], cached)

    def _merge(self, reading: HotReply[int, bytes], loaded: dict[int, bytes]) -> dict[int, bytes]:
        """All payloads, after those that were missing were stored as hot copies."""
        self.hot.store(loaded, reading.asked_at)
        return _existing(reading.hits | loaded)

    def _read_all(self, raws: Sequence[Any]) -> Sequence[bytes] | None:
        """The payloads of these entries, also empty ones. Most reads find all.

        None: one is missing, stale or unreadable.
        """
        if None in raws:
            return None
        payloads = decode(self.family, self._read_fresh, raws)
        if payloads is not None:
            count_reads(self.family, "redis", len(payloads))
        return payloads

    def _read_fresh(self, raws: Sequence[bytes]) -> Sequence[bytes] | None:
        """As `_read_entry` of each, in a few steps for all. None: one is stale."""
        versions, ends, payloads = zip(*map(_SPLIT, raws, _COLONS, _TWICE), strict=True)
        numbers = b"".join(versions) + b"".join(ends)
        if not numbers.isdigit() or not all(map(self._check, filter(None, payloads))):
            raise ValueError("not entries of this family")
        # Ends have ten digits until the year 2286, so they compare as numbers do.
        first, last = self._fresh_ends()
        return payloads if b"%d" % first <= min(ends) and max(ends) <= b"%d" % last else None

    def _fresh_ends(self) -> tuple[float, float]:
        """Between these an entry ends that is fresh now."""
        now_s = time.time()
        return now_s, now_s + self.ttl_s + SKEW_S

    def refresh(self, entries: Mapping[int, Versioned], before: Sequence[Command] = ()) -> None:
        """Replaces cached entries that changed.

        Entries that are not cached stay so: the next reader loads them. `before`: commands that run
        first. Raises: RedisError, so that the consumer runs again. Cost: a round trip, which it may
        share.
        """
        if not entries:
            run_together(before)
            return
        owners = list(entries)
        self._flights.forget(owners)
        changes = [
            CHANGE.on(self._guarded_key(owner), *self._arguments(entry))
            for owner, entry in entries.items()
        ]
        run_together([*before, *changes], lambda _: self.hot.forget_names(self.keys(owners)))

    def drop_commands(self, owners: Collection[int]) -> list[Command]:
        """Delete the entries, and keep loads in progress from writing them."""
        self._flights.forget(owners)
        return [("DEL", *self._guarded_key(owner)) for owner in owners]

    def create(self, entries: Mapping[int, Versioned], ttl_s: int) -> None:
        """Stores the first values of owners that no other process knows yet.

        It has no load token: if another process did change the value, it is wrong for `ttl_s`.
        Raises: RedisError. Cost: a round trip, which it may share.
        """
        commands: list[Command] = []
        for owner, entry in entries.items():
            version, payload, _ = self._arguments(entry)
            text = b"%d:%b" % (version, payload)
            commands.append(("SET", self.key(owner), text, "NX", "EX", ttl_s))
        run_together(commands)

    def _fill(self, owners: Sequence[int], cached: Mapping[int, StoredValue]) -> dict[int, bytes]:
        """Payload by owner; empty for an owner without a value. The source has what is missing."""
        if not owners:
            return {}
        entries = {owner: cached[owner] for owner in owners if owner in cached}
        count_reads(self.family, "redis", len(entries), len(owners) - len(entries))
        payloads = {owner: entry.payload for owner, entry in entries.items()}
        first, last = self._fresh_ends()
        stale = [owner for owner, e in entries.items() if not first <= e.fresh_until <= last]
        if stale:
            payloads |= self._loading.load_stale(stale)
        missing = [owner for owner in owners if owner not in entries]
        if missing:
            payloads |= self._loading.load_missing(missing)
        return payloads

    def _load_and_write(self, owners: Sequence[int], tokens: LoadTokens) -> dict[int, bytes]:
        is_away = not tokens.by_entry
        loaded = self._flights.load(owners, self.load) if is_away else self.load(owners)
        self.write_many(loaded, tokens)
        return {owner: entry.payload for owner, entry in loaded.items()}

    def _ask_payloads(self, owners: Sequence[int]) -> Question[dict[int, bytes]]:
        """The cached payloads, empty ones included."""
        return self.ask_cached(owners).then(
            lambda cached: {owner: entry.payload for owner, entry in cached.items()}
        )

    def _decode_many(self, owners: Sequence[int], raws: Replies) -> dict[int, StoredValue]:
        if not raws:
            return {}
        cached = {}
        for owner, raw in zip(owners, raws, strict=True):
            entry = decode(self.family, self._read_entry, raw)
            if entry is not None:
                cached[owner] = entry
        return cached

    def _read_entry(self, raw: bytes) -> StoredValue:
        version, fresh_until, payload = raw.split(b":", 2)
        if not version.isdigit() or (payload and not self._check(payload)):
            raise ValueError("not an entry of this family")
        return StoredValue(int(fresh_until), payload)

    def write_many(self, entries: Mapping[int, Versioned], tokens: LoadTokens) -> None:
        """Stores loaded entries under their tokens. One round trip."""
        if not tokens.by_entry:
            return
        commands = []
        for owner, entry in entries.items():
            keys = self._guarded_key(owner)
            commands.append(WRITE.on(keys, tokens.of(keys[0]), *self._arguments(entry)))
        write_loaded(self.family, commands)

    def _guarded_key(self, owner: int) -> tuple[bytes, bytes]:
        """The keys of an entry and of its load token."""
        where = self.key(owner)
        return where, token_key(where)

    def _arguments(self, entry: Versioned) -> tuple[int, bytes, int]:
        """Version, payload and time to live, as the scripts take them."""
        ttl_ms = jittered_ms(self.ttl_s)
        fresh_until = int(time.time() + ttl_ms * SOFT_SHARE / 1000)
        return entry.version, b"%d:%b" % (fresh_until, entry.payload), ttl_ms


def _existing(payloads: Mapping[int, bytes]) -> dict[int, bytes]:
    return {owner: payload for owner, payload in payloads.items() if payload}
