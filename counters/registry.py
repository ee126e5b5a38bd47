"""The rows that each count counts, and the caches that hold counts. The apps above register both.

An app registers them in its `counter_rows.py`, imported when the app is ready. The rows of a count
are on the shard of the count, so one statement reads both in one snapshot.

Errors of the counting service.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from counters.cache import account_counts
from counters.kinds import ACCOUNT_KINDS, CounterKind
from counters.queries.counts import Subject, read_subject_counts
from counters.types import ACCOUNT, Count
from infra.caching.values import ValueCache, Versioned


class KindCountedTwice(RuntimeError):
    """Two apps register different rows for one kind, so each recount would undo the other."""


class CountedRows(NamedTuple):
    """The rows of one kind of count. All fields are SQL of the program.

    `owner` is the first column of an index, also with `where`. `subject` is the column, or the
    number, of the counted thing of the owner. `value`: what the rows amount to. `kind`: of the
    count that includes the row, if rows of several kinds are counted by one scan.
    """

    table: str
    owner: str
    where: str = "true"
    subject: str = "0"
    value: str = "count(*)"
    kind: str | None = None


class CountCache(NamedTuple):
    """A cache of counts. `entry` makes an entry of the counts of one subject, in the order of
    `kinds`. `number_of` gives the cache's number of a subject, or None.
    """

    cache: ValueCache
    kinds: Sequence[CounterKind]
    number_of: Callable[[Subject], int | None]
    entry: Callable[[Sequence[Count]], Versioned]

    def numbers_of(self, subjects: Iterable[Subject]) -> dict[int, Subject]:
        """The subjects that this cache holds, by their numbers."""
        numbers = {self.number_of(subject): subject for subject in subjects}
        return {number: subject for number, subject in numbers.items() if number is not None}

    def read(self, alias: str, subjects: Mapping[int, Subject]) -> dict[int, Versioned]:
        """The correct entries of subjects of one shard, from the source. One query."""
        counts = read_subject_counts(alias, [*subjects.values()], self.kinds) if subjects else {}
        return {number: self.entry(counts[subject]) for number, subject in subjects.items()}


def entry_of_all(counts: Sequence[Count]) -> Versioned:
    """`a,b,c`. The version of an entry is the sum of the versions of its counts: each of them only
    grows, and one snapshot reads them all."""
    return Versioned(
        sum(count.version for count in counts),
        ",".join(str(count.value) for count in counts).encode(),
    )


def _number_of_account(subject: Subject) -> int | None:
    owner_id, part = subject
    return owner_id if part == ACCOUNT else None


_rows: dict[CounterKind, CountedRows] = {}
_caches = [CountCache(account_counts, ACCOUNT_KINDS, _number_of_account, entry_of_all)]


def register_counted_rows(kind: CounterKind, rows: CountedRows) -> None:
    """Counts of this kind are the numbers of these rows. Raises: KindCountedTwice."""
    if _rows.setdefault(kind, rows) != rows:
        raise KindCountedTwice(f"{kind.name} counts {_rows[kind].table} already")


def counted_rows_by_kind() -> Mapping[CounterKind, CountedRows]:
    return _rows


def list_counted_tables() -> Iterable[tuple[str, str]]:
    """Every table with counted rows, and its owner column, once."""
    return dict.fromkeys((rows.table, rows.owner) for rows in _rows.values())


def register_count_cache(cache: CountCache) -> None:
    """A recount refreshes this cache too."""
    _caches.append(cache)


def list_count_caches() -> Sequence[CountCache]:
    return _caches
