"""Who reads the source when a cache lacks an entry, or has one past its soft time to live.

    <family>:{owner}:load_lock   a random token of the process that loads, for LOCK_MS

One thread per process (single_flight) and one process of all (the load lock) read the source. The
others wait a moment or use the stale entry. Correctness never depends on the lock: a dead holder
delays others for a moment only, and a slow holder cannot overwrite an entry with a newer version.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import structlog
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from infra.caching.client import Command, load_script, redis
from infra.caching.keys import key
from infra.caching.metrics import count_error, count_loads, count_waits
from infra.caching.single_flight import SingleFlight

RELEASE = load_script(Path(__file__).with_name("lua") / "load_lock_release.lua")
LOCK_MS = 2_000
# How long a process waits for the load of another one, and how often it reads the cache then. A
# notification would cost one connection per waiting thread.
PATIENCE_S = 0.25
POLL_S = 0.01
log = structlog.get_logger()


class Versioned(NamedTuple):
    """A payload and the version of the source that it reflects. Empty payload: no such value."""

    version: int
    payload: bytes


Loader = Callable[[Sequence[int]], Mapping[int, Versioned]]
# Writes entries, then runs the commands in the same round trip.
WriteEntries = Callable[[Mapping[int, Versioned], Sequence[Command]], bool]
# Payloads of the cached entries, by owner.
ReadEntries = Callable[[Sequence[int]], Mapping[int, bytes]]


class LoadLocks(NamedTuple):
    """`acquired`: owners that this process loads. `busy`: owners that another process loads."""

    family: str
    token: str
    acquired: list[int]
    busy: list[int]

    def release_commands(self) -> list[Command]:
        return [RELEASE.on([_lock_key(self.family, owner)], self.token) for owner in self.acquired]


def acquire_load_locks(family: str, owners: Sequence[int]) -> LoadLocks:
    """Raises: RedisError. Cost: one round trip."""
    token = secrets.token_hex(8)
    commands = [("SET", _lock_key(family, owner), token, "NX", "PX", LOCK_MS) for owner in owners]
    replies = redis().run(commands)
    acquired = [owner for owner, reply in zip(owners, replies, strict=True) if reply is not None]
    busy = [owner for owner in owners if owner not in acquired]
    return LoadLocks(family, token, acquired, busy)


class SharedLoads:
    """The loads of one cache in this process."""

    def __init__(self, family: str, load: Loader, write: WriteEntries, read: ReadEntries) -> None:
        self._family, self._source = family, load
        self._write, self._read = write, read
        self._flights: SingleFlight[int, bytes] = SingleFlight()

    def load_missing(self, owners: Sequence[int]) -> dict[int, bytes]:
        """Payloads from the source, read by this process or another. Raises what the source raises.

        Cost: one source read and two round trips for all owners together.
        """
        return self._flights.load(owners, self._load_missing)

    def load_stale(self, owners: Sequence[int]) -> dict[int, bytes]:
        """Fresh payloads of the owners that no other process reloads; {} if the source is away."""
        try:
            locks = acquire_load_locks(self._family, owners)
            return self._load(locks.acquired, "stale", locks.release_commands())
        except (RedisError, OperationalError, InterfaceError) as error:
            log.warning("cache.not_revalidated", family=self._family, error=str(error))
            count_error(self._family)
            return {}

    def forget(self, owners: Iterable[int]) -> None:
        """These owners changed: later readers do not join a load that began before."""
        self._flights.forget(owners)

    def forget_all(self) -> None:
        self._flights.forget_all()

    def _load_missing(self, owners: Sequence[int]) -> dict[int, bytes]:
        try:
            locks = acquire_load_locks(self._family, owners)
        except RedisError:
            count_error(self._family)
            locks = LoadLocks(self._family, "", list(owners), [])
        found = self._load(locks.acquired, "miss", locks.release_commands())
        return found | self._wait_for(locks.busy) if locks.busy else found

    def _wait_for(self, owners: list[int]) -> dict[int, bytes]:
        """Entries that another process writes in PATIENCE_S. The rest is read from the source."""
        count_waits(self._family, len(owners))
        found: dict[int, bytes] = {}
        missing, deadline = owners, time.monotonic() + PATIENCE_S
        while missing and time.monotonic() < deadline:
            time.sleep(POLL_S)
            try:
                found |= self._read(missing)
            except RedisError:
                break
            missing = [owner for owner in owners if owner not in found]
        return found | self._load(missing, "miss", ())

    def _load(
        self, owners: Sequence[int], why: Literal["miss", "stale"], after: Sequence[Command]
    ) -> dict[int, bytes]:
        if not owners:
            return {}
        loaded = self._source(owners)
        count_loads(self._family, why, len(owners))
        self._write(loaded, after)
        return {owner: entry.payload for owner, entry in loaded.items()}


def _lock_key(family: str, owner: int) -> bytes:
    return key(family, owner, "load_lock")
