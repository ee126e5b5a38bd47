"""Which rows each count is the number of, told by the apps above that have them.

An app tells it in its own `counted.py`, imported when the app is ready. The rows of a count lie on
the same shard as the count, so one statement sees both as they were at one moment.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from counters.errors import KindCountedTwice
from counters.kinds import CounterKind


class CountedRows(NamedTuple):
    """The rows of one kind; names and conditions are written in the program.

    `owner` is the first column of an index, and so is it with `where`; `subject` is the column, or
    the number, that says what of the owner's is counted.
    """

    table: str
    owner: str
    where: str = "true"
    subject: str = "0"


_rows: dict[CounterKind, CountedRows] = {}


def register_counted_rows(kind: CounterKind, rows: CountedRows) -> None:
    """Says that counts of this kind are the numbers of these rows. Raises: RowsTaken."""
    if _rows.setdefault(kind, rows) != rows:
        raise KindCountedTwice(f"{kind.name} counts {_rows[kind].table} already")


def counted_rows_by_kind() -> Mapping[CounterKind, CountedRows]:
    return _rows


def list_counted_tables() -> Iterable[tuple[str, str]]:
    """Every table that has rows that are counted, and its column of the owner, once."""
    return dict.fromkeys((rows.table, rows.owner) for rows in _rows.values())
