"""Walks all rows of a table, shard by shard and batch by batch, by key: never by OFFSET.

Rows that come to lie behind the walk while it goes on are not seen; those are for the change table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from infra.jobs.types import Work
from infra.sharding.sql import fetch_all, fetch_one

Row = tuple[Any, ...]
Key = Sequence[Any]
# (alias, the key to begin behind or None, how many) → rows in key order, key columns first
ReadRows = Callable[[str, Key | None, int], list[Row]]

ESTIMATE = "SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = %s::regclass"


class Piece(NamedTuple):
    """Rows of one shard, in key order, and the `Batch.position` for when they are done."""

    alias: str
    rows: list[Row]
    position: dict[str, Any]


@dataclass(frozen=True)
class Table:
    """What to read of a table on each shard.

    `key` is unique, has an index in that order, and is of numbers or text (it is kept as JSON);
    `columns` come after it in each row; `where` is a condition written in the program.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...] = ()
    where: str = "true"
    # The column that --account is compared with; the first of the key, unless said.
    owner: str = ""

    def read(self, account_id: int | None, alias: str, after: Key | None, count: int) -> list[Row]:
        """One batch. One query."""
        params = {"after": after and list(after), "owner_id": account_id, "count": count}
        return fetch_all(alias, self._sql(after, account_id), _flat(params))

    def _sql(self, after: Key | None, account_id: int | None) -> str:
        key = ", ".join(self.key)
        places = ", ".join(f"%(after{n})s" for n in range(len(self.key)))
        conditions = [f"({self.where.replace('%', '%%')})"]
        if after is not None:
            conditions.append(f"({key}) > ({places})")
        if account_id is not None:
            conditions.append(f"{self.owner or self.key[0]} = %(owner_id)s")
        columns = ", ".join((*self.key, *self.columns))
        found = f"SELECT {columns} FROM {self.name} WHERE {' AND '.join(conditions)}"  # noqa: S608
        return f"{found} ORDER BY {key} LIMIT %(count)s"


def walk_table(work: Work, table: Table) -> Iterator[Piece]:
    """The rows of a table that the work asks for. One query a piece, and one more a shard."""
    return walk(work, partial(table.read, work.account_id), len(table.key))


def walk(work: Work, read_rows: ReadRows, key_length: int = 1) -> Iterator[Piece]:
    """The same for what is not one table: `read_rows` finds the rows.

    Goes on behind `work.after` (aliases in the same order as before), gives no more rows than
    `work.limit`, and no empty piece.
    """
    after = work.after or {"alias": None, "key": None}
    aliases = list(work.aliases)
    if after["alias"] in aliases:
        aliases = aliases[aliases.index(after["alias"]) :]
    left = work.limit
    for alias in aliases:
        key = after["key"] if alias == after["alias"] else None
        while left != 0:
            rows = read_rows(alias, key, min(work.batch_size, left or work.batch_size))
            if not rows:
                break
            key = list(rows[-1][:key_length])
            yield Piece(alias, rows, {"alias": alias, "key": key})
            left = left and left - len(rows)


def estimate_rows(work: Work, table: Table) -> int | None:
    """About how many rows the walk will see, as ANALYZE last knew it; None for one account.

    One query a shard. With a `where` it is an upper bound.
    """
    if work.account_id is not None:
        return None
    found = [fetch_one(alias, ESTIMATE, (table.name,)) for alias in work.aliases]
    rows = sum(row[0] for row in found if row)
    return rows if work.limit is None else min(rows, work.limit)


def _flat(params: dict[str, Any]) -> dict[str, Any]:
    after = params.pop("after") or []
    return params | {f"after{n}": value for n, value in enumerate(after)}
