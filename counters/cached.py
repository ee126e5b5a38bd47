"""Which caches hold counts, told by the apps that have them: what a recount has to set right.

An entry of such a cache is the counts of one subject, `a,b,c` in the order of the cache's kinds.
Its version is the sum of theirs: each only grows, and all are read in one snapshot.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from counters.cache import account_counts
from counters.kinds import ACCOUNT_KINDS, CounterKind
from counters.queries.subjects import Subject, read_subject_counts
from counters.types import ACCOUNT
from infra.caching.values import ValueCache, Versioned


class CountCache(NamedTuple):
    """A cache of counts. `number_of`: what it calls a subject; None for those it does not hold."""

    cache: ValueCache
    kinds: Sequence[CounterKind]
    number_of: Callable[[Subject], int | None]

    def numbers_of(self, subjects: Iterable[Subject]) -> dict[int, Subject]:
        """Those of the subjects that the cache holds, by what it calls them."""
        numbers = {self.number_of(subject): subject for subject in subjects}
        return {number: subject for number, subject in numbers.items() if number is not None}

    def read(self, alias: str, subjects: Mapping[int, Subject]) -> dict[int, Versioned]:
        """What the entries have to be, of subjects of one shard. One query."""
        counts = read_subject_counts(alias, [*subjects.values()], self.kinds) if subjects else {}
        return {
            number: Versioned(
                sum(count.version for count in counts[subject]),
                ",".join(str(count.value) for count in counts[subject]).encode(),
            )
            for number, subject in subjects.items()
        }


def _account(subject: Subject) -> int | None:
    owner_id, part = subject
    return owner_id if part == ACCOUNT else None


_caches = [CountCache(account_counts, ACCOUNT_KINDS, _account)]


def register_count_cache(cached: CountCache) -> None:
    """Registers a cache of counts of an app above."""
    _caches.append(cached)


def list_count_caches() -> Sequence[CountCache]:
    return _caches
