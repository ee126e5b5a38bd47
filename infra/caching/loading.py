"""Who reads the source when a cache lacks an entry, or has one past its soft time.

One thread of a process and one process of all; the others wait a moment, or are
shown what is stale.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import structlog
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from infra.caching.client import Command
from infra.caching.load_locks import LoadLocks, acquire_load_locks
from infra.caching.metrics import count_error, count_loads, count_waits
from infra.caching.single_flight import SingleFlight

# How long one waits for another process's load, and how often one looks: a notice would cost a
# connection for each who waits.
PATIENCE_S = 0.25
POLL_S = 0.01
log = structlog.get_logger()


class Versioned(NamedTuple):
    """A payload and the version it reflects. An empty payload says: there is nothing."""

    version: int
    payload: bytes


Loader = Callable[[Sequence[int]], Mapping[int, Versioned]]
# Lays entries, and runs commands after; looks for entries by owner.
WriteEntries = Callable[[Mapping[int, Versioned], Sequence[Command]], bool]
ReadEntries = Callable[[Sequence[int]], Mapping[int, bytes]]


class SharedLoads:
    """The loads of one cache in this process."""

    def __init__(self, family: str, load: Loader, lay: WriteEntries, look: ReadEntries) -> None:
        self._family, self._source = family, load
        self._lay, self._look = lay, look
        self._flights: SingleFlight[int, bytes] = SingleFlight()

    def load_missing(self, owners: Sequence[int]) -> dict[int, bytes]:
        """Payloads of the source, read here or by whoever was first. Raises what the source does.

        Cost: one source read and two round trips for all owners together.
        """
        return self._flights.load(owners, self._load_missing)

    def load_stale(self, owners: Sequence[int]) -> dict[int, bytes]:
        """Fresh payloads of those that nobody else is reading anew; none without the source."""
        try:
            load_locks = acquire_load_locks(self._family, owners)
            return self._load(load_locks.acquired, "stale", load_locks.release_commands())
        except (RedisError, OperationalError, InterfaceError) as error:
            log.warning("cache.not_revalidated", family=self._family, error=str(error))
            count_error(self._family)
            return {}

    def forget(self, owners: Iterable[int]) -> None:
        """These changed: nobody joins a load that began before."""
        self._flights.forget(owners)

    def forget_all(self) -> None:
        self._flights.forget_all()

    def _load_missing(self, owners: Sequence[int]) -> dict[int, bytes]:
        try:
            load_locks = acquire_load_locks(self._family, owners)
        except RedisError:
            count_error(self._family)
            load_locks = LoadLocks(self._family, "", list(owners), [])
        found = self._load(load_locks.acquired, "miss", load_locks.release_commands())
        return found | self._wait_for(load_locks.busy) if load_locks.busy else found

    def _wait_for(self, owners: list[int]) -> dict[int, bytes]:
        """What another process lays meanwhile; what it does not is read here."""
        count_waits(self._family, len(owners))
        found: dict[int, bytes] = {}
        missing, deadline = owners, time.monotonic() + PATIENCE_S
        while missing and time.monotonic() < deadline:
            time.sleep(POLL_S)
            try:
                found |= self._look(missing)
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
        self._lay(loaded, after)
        return {owner: entry.payload for owner, entry in loaded.items()}
