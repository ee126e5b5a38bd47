"""Who reads the source when a cache lacks an entry, or has one past its soft time to live.

One thread per process (single_flight) and one process of all (the one whose load token is first)
read the source. The others wait a moment or use the stale entry. Correctness never depends on this:
a process that died delays others for a moment only. Then they load and write under the same token.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import structlog
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from infra.caching.load_tokens import LoadTokens, begin_loads, write_loaded
from infra.caching.metrics import count_error, count_loads, count_waits
from infra.caching.single_flight import SingleFlight
from infra.telemetry.reached import reached

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
KeyOf = Callable[[int], bytes]
# Writes loaded entries under the tokens of their loads.
WriteEntries = Callable[[Mapping[int, Versioned], LoadTokens], None]
# Payloads of the cached entries, by owner.
ReadEntries = Callable[[Sequence[int]], Mapping[int, bytes]]


class SharedLoads:
    """The loads of one cache in this process."""

    def __init__(
        self, family: str, key_of: KeyOf, load: Loader, write: WriteEntries, read: ReadEntries
    ) -> None:
        self._family, self._key_of, self._source = family, key_of, load
        self._write, self._read = write, read
        self._flights: SingleFlight[int, bytes] = SingleFlight()

    def load_missing(self, owners: Sequence[int]) -> dict[int, bytes]:
        """Payloads from the source, read by this process or another. Raises what the source raises.

        Cost: one source read and two round trips for all owners together.
        """
        return self._flights.load(owners, self._load_missing)

    def load_stale(self, owners: Sequence[int]) -> dict[int, bytes]:
        """Fresh payloads of the owners that no other process reloads; {} if the source is away."""
        tokens = self._begin(owners)
        try:
            return self._load(self._begun(owners, tokens), "stale", tokens)
        except (OperationalError, InterfaceError) as error:
            log.warning("cache.not_revalidated", family=self._family, error=str(error))
            count_error(self._family)
            return {}

    def forget(self, owners: Iterable[int]) -> None:
        """These owners changed: later readers do not join a load that began before."""
        self._flights.forget(owners)

    def forget_all(self) -> None:
        self._flights.forget_all()

    def _load_missing(self, owners: Sequence[int]) -> dict[int, bytes]:
        tokens = self._begin(owners)
        mine = self._begun(owners, tokens) if tokens.by_entry else list(owners)
        found = self._load(mine, "miss", tokens)
        busy = [owner for owner in owners if owner not in set(mine)]
        return found | self._wait_for(busy, tokens) if busy else found

    def _wait_for(self, owners: list[int], tokens: LoadTokens) -> dict[int, bytes]:
        """Entries that another process writes in PATIENCE_S. The rest is read from the source."""
        reached("cache.waited_for_other_process")
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
        return found | self._load(missing, "miss", tokens)

    def _load(
        self, owners: Sequence[int], why: Literal["miss", "stale"], tokens: LoadTokens
    ) -> dict[int, bytes]:
        if not owners:
            return {}
        loaded: Mapping[int, Versioned] = {}
        try:
            loaded = self._source(owners)
        finally:  # also when the source fails: others must not wait for this load
            self._release([owner for owner in owners if owner not in loaded], tokens)
        count_loads(self._family, why, len(owners))
        self._write(loaded, tokens)
        return {owner: entry.payload for owner, entry in loaded.items()}

    def _begin(self, owners: Sequence[int]) -> LoadTokens:
        return begin_loads(self._family, list(map(self._key_of, owners)))

    def _begun(self, owners: Sequence[int], tokens: LoadTokens) -> list[int]:
        return [owner for owner in owners if self._key_of(owner) in tokens.begun]

    def _release(self, owners: Sequence[int], tokens: LoadTokens) -> None:
        write_loaded(self._family, tokens.release_commands(list(map(self._key_of, owners))))
