"""Writes changes for rows that another program wrote, so that all that is derived follows them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from infra.jobs.flags import count
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Row, Table, walk_table
from infra.sharding.buckets import group_by_shard

Key = tuple[int, ...]


class AnnouncedRows(NamedTuple):
    """How the rows of a table are announced. A row has the columns of `table`, the key first.

    `parse`: the key that a line of text names, the owner first; ValueError. `find`: a row
    for each of these keys of a database, also for one that is not there. `moments`: when the row
    was written, as far as it says so. `name`: of a row, for people. `announce`: writes the changes;
    returns a line with the reason for each row that it could not announce. Safe to do twice.
    """

    table: Table
    parse: Callable[[str], Key]
    find: Callable[[str, Sequence[Key]], list[Row]]
    moments: Callable[[Row], Iterable[datetime | None]]
    name: Callable[[Sequence[Any]], str]
    announce: Callable[[str, Sequence[Row]], Sequence[str]]


class WrittenSpan(NamedTuple):
    """`since` is in it, and `until` is not. None: no bound."""

    since: datetime | None
    until: datetime | None

    def has(self, moments: Iterable[datetime | None]) -> bool:
        """Whether one of them is in it. Without bounds all rows are."""
        if self == (None, None):
            return True
        return any(
            (self.since is None or moment >= self.since)
            and (self.until is None or moment < self.until)
            for moment in moments
            if moment is not None
        )


def announce_span(work: Work, rows: AnnouncedRows, span: WrittenSpan) -> Iterator[Batch]:
    """Those of all rows that say that they were written then; a batch at a time, by key.

    Cost: one query a batch, which reads the rows outside the span too; and as `rows.announce`.
    """
    for alias, read, position in walk_table(work, rows.table):
        wanted = [row for row in read if span.has(rows.moments(row))]
        yield _announce(work, rows, alias, wanted, position)


def announce_lines(work: Work, rows: AnnouncedRows, lines: Iterable[str]) -> Iterator[Batch]:
    """The rows that lines name. A line that names none is a failed one.

    Cost: one query a batch and shard, and as `rows.announce`.
    """
    begun = work.after["line"] if work.after else 0
    numbered = ((n, text) for n, text in enumerate(lines, 1) if n > begun and text.strip())
    wanted = islice(numbered, work.limit)
    while piece := list(islice(wanted, work.batch_size)):
        yield from _announce_piece(work, rows, piece)


def _announce_piece(
    work: Work, rows: AnnouncedRows, piece: Sequence[tuple[int, str]]
) -> Iterator[Batch]:
    keys, wrong = _parse_all(rows, piece)
    position = {"line": piece[-1][0]}
    for alias, owners in group_by_shard(dict.fromkeys(key[0] for key in keys)).items():
        own = [key for key in keys if key[0] in {*owners}]
        yield _announce(work, rows, alias, rows.find(alias, own), None)
    yield Batch(0, len(wrong), changed=0, position=position, details=wrong)


def _parse_all(
    rows: AnnouncedRows, piece: Sequence[tuple[int, str]]
) -> tuple[list[Key], list[str]]:
    """The keys, each once, and what is wrong with the other lines."""
    keys: dict[Key, None] = {}
    wrong = []
    for number, text in piece:
        try:
            keys[rows.parse(text.strip())] = None
        except ValueError:
            wrong.append(f"line {number} names no row")
    return list(keys), wrong


def _announce(
    work: Work, rows: AnnouncedRows, alias: str, wanted: Sequence[Row], position: Any
) -> Batch:
    failed = [] if work.dry_run or not wanted else rows.announce(alias, wanted)
    done = len(wanted) - len(failed)
    return Batch(done, len(failed), alias, done, position, [*map(rows.name, wanted), *failed])


def number_in(text: str) -> int:
    """A whole number from 1. Raises: ValueError."""
    try:
        return count(text)
    except Exception as error:
        raise ValueError(text) from error
