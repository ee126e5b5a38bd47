"""Deletes the rows of a move on the shard that does not own them."""

from collections.abc import Iterable, Iterator

from django.db import transaction

from infra.sharding.sql import execute, fetch_one
from operations.moves.guard import require_mine
from operations.moves.tables import MovedTable, iter_block_ranges, list_moved_tables
from operations.moves.types import MoveRef
from timelines.models import RecentPost

# 4 MB: so many rows are deleted in one short transaction.
BLOCKS = 500
PASS_GUARD = "SELECT set_config('tideline.move', %s, true)"  # noqa: S105 - the name of a setting


def delete_copies(ref: MoveRef, alias: str) -> Iterator[int]:
    """The numbers of rows that were deleted, part by part.

    Call it when nothing replicates from this shard any more: else the deletions reach the owner.
    Safety: idempotent. Raises: MoveLost. Cost: reads each table once.
    """
    yield from _delete(ref, alias, list_moved_tables())


def delete_old_index(ref: MoveRef) -> Iterator[int]:
    """Rows of the accounts in the recent-posts index of the target, from when it was replicated:
    the copy would meet them. Call it before the copy, when the target is closed. As above."""
    index = RecentPost._meta.db_table
    yield from _delete(ref, ref.target, [t for t in list_moved_tables() if t.name == index])


def _delete(ref: MoveRef, alias: str, tables: Iterable[MovedTable]) -> Iterator[int]:
    for table in tables:
        condition = ref.buckets.condition(table.owner)
        for part in iter_block_ranges(alias, table, BLOCKS):
            with transaction.atomic(using=alias):
                require_mine(ref, alias)
                fetch_one(alias, PASS_GUARD, (str(ref.id),))
                sql = f"DELETE FROM {part.table} WHERE {part.condition} AND {condition}"  # noqa: S608
                deleted = execute(alias, sql)
            if deleted:
                yield deleted
