"""The proof that source and target have the same rows: a number and a hash for each owner.

While people write, an owner may differ because a change is on its way. So those who differ are
compared again. Who writes all the time is compared under the closed guard.
"""

import time
from collections.abc import Iterator, Mapping, Sequence

from infra.sharding.sql import fetch_all
from operations.moves.errors import MoveStuck
from operations.moves.tables import MovedTable, iter_block_ranges, list_moved_tables
from operations.moves.types import MoveRef

# By table: the owners whose rows differ.
Differing = Mapping[str, Sequence[int]]
Sums = dict[int, tuple[int, int]]
# 80 MB: a statement ends in time also on a slow disk.
BLOCKS = 10_000
PASSES, PAUSE_S = 20, 0.2
# More can not be compared while writes wait.
MOST_BUSY = 500
SUMS = """
SELECT {owner}, count(*), sum(hashtextextended(ROW({columns})::text, 0)::numeric)
FROM {table} WHERE {condition} GROUP BY 1
"""


def compare_all(ref: MoveRef) -> Iterator[str | Differing]:
    """Compares all moved rows. The last item says who writes all the time.

    Raises: MoveStuck if too many differ. Cost: reads each table once on both shards.
    """
    busy: dict[str, Sequence[int]] = {}
    owners = 0
    for table in list_moved_tables():
        sides = [_sum_all(ref, alias, table) for alias in (ref.source, ref.target)]
        owners += len(sides[0])
        if differing := _compare_again(ref, table, _differing(*sides)):
            busy[table.name] = differing
    if sum(map(len, busy.values())) > MOST_BUSY:
        raise MoveStuck(f"rows differ: {_describe(busy)}; abort the move")
    yield f"{owners:,} owners of rows in {len(list_moved_tables())} tables are equal on both shards"
    yield busy


def require_equal(ref: MoveRef, owners: Differing) -> None:
    """Under the closed guard. Raises: MoveStuck. Cost: two queries by key a table."""
    tables = {table.name: table for table in list_moved_tables()}
    for name, wanted in owners.items():
        sums = (_sum_owners(alias, tables[name], wanted) for alias in (ref.source, ref.target))
        if differing := _differing(*sums):
            raise MoveStuck(f"rows differ: {_describe({name: differing})}; abort the move")


def _compare_again(ref: MoveRef, table: MovedTable, differing: list[int]) -> list[int]:
    for _ in range(PASSES):
        if not differing:
            break
        time.sleep(PAUSE_S)
        aliases = (ref.source, ref.target)
        differing = _differing(*(_sum_owners(alias, table, differing) for alias in aliases))
    return differing


def _sum_all(ref: MoveRef, alias: str, table: MovedTable) -> Sums:
    sums: Sums = {}
    for part in iter_block_ranges(alias, table, BLOCKS):
        condition = f"{part.condition} AND {ref.buckets.condition(table.owner)}"
        for owner, count, hashes in fetch_all(alias, _sql(table, part.table, condition)):
            before = sums.get(owner, (0, 0))
            sums[owner] = before[0] + count, before[1] + int(hashes)
    return sums


def _sum_owners(alias: str, table: MovedTable, owners: Sequence[int]) -> Sums:
    sql = _sql(table, table.name, f"{table.owner} = ANY(%s::bigint[])")
    return {o: (count, int(hashes)) for o, count, hashes in fetch_all(alias, sql, ([*owners],))}


def _sql(table: MovedTable, relation: str, condition: str) -> str:
    columns = ", ".join(table.columns)
    return SUMS.format(owner=table.owner, columns=columns, table=relation, condition=condition)


def _differing(source: Sums, target: Sums) -> list[int]:
    return sorted(o for o in source.keys() | target.keys() if source.get(o) != target.get(o))


def _describe(owners: Differing) -> str:
    return ", ".join(f"{name} of {len(ids)} owners, first {ids[0]}" for name, ids in owners.items())
