"""Walks all rows of a table, shard by shard and batch by batch, by key and never by OFFSET.

It does not see rows that are inserted before its position while it runs. It leaves out the copies
of other shards' rows that a move of buckets makes and leaves.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from infra.jobs.types import Work
from infra.sharding.buckets import is_owned
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one

Row = tuple[Any, ...]
Key = Sequence[Any]
# (alias, the key to start after or None, how many) → rows in key order, key columns first
ReadRows = Callable[[str, Key | None, int], list[Row]]

ESTIMATE = "SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = %s::regclass"


class Piece(NamedTuple):
    """Rows of one shard in key order, and the `Batch.position` to report when they are done."""

    alias: str
    rows: list[Row]
    position: dict[str, Any]


@dataclass(frozen=True)
class Table:
    """The columns and rows of a table that a walk reads on each shard.

    `key` is unique and indexed in that order. Its values are numbers or text, because checkpoints
    are JSON. `columns` follow the key in each row. `where` is SQL of the program.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...] = ()
    where: str = "true"
    # The column of --account; by default the first column of the key. A column of the key.
    owner: str = ""
    # Each shard has the rows of all owners.
    is_replicated: bool = False

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
        select = f"SELECT {columns} FROM {self.name} WHERE {' AND '.join(conditions)}"  # noqa: S608
        return f"{select} ORDER BY {key} LIMIT %(count)s"


def walk_table(work: Work, table: Table) -> Iterator[Piece]:
    """The rows of a table, as pieces. One query a piece, and one more a shard."""
    owner_at = None if table.is_replicated else table.key.index(table.owner or table.key[0])
    return walk(work, partial(table.read, work.account_id), len(table.key), owner_at)


def walk(
    work: Work, read_rows: ReadRows, key_length: int = 1, owner_at: int | None = 0
) -> Iterator[Piece]:
    """Walks rows that `read_rows` finds. It yields no empty piece.

    `owner_at`: where a row has its owner. None: rows of any owner may be on any database.
    It starts after `work.after` (with the aliases in the same order) and stops at `work.limit`.
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
            own = rows if owner_at is None else _own(alias, rows, owner_at)
            if own:
                yield Piece(alias, own, {"alias": alias, "key": key})
            left = left and left - len(own)


def estimate_rows(work: Work, table: Table) -> int | None:
    """About how many rows a walk will read, by the last ANALYZE; None for one account.

    With a `where` it is an upper bound. One query a shard.
    """
    if work.account_id is not None:
        return None
    estimates = [fetch_one(alias, ESTIMATE, (table.name,)) for alias in work.aliases]
    rows = sum(row[0] for row in estimates if row)
    return rows if work.limit is None else min(rows, work.limit)


def _own(alias: str, rows: list[Row], owner_at: int) -> list[Row]:
    if alias == GLOBAL_ALIAS:
        return rows
    return [row for row in rows if is_owned(alias, row[owner_at])]


def _flat(params: dict[str, Any]) -> dict[str, Any]:
    after = params.pop("after") or []
    return params | {f"after{n}": value for n, value in enumerate(after)}
