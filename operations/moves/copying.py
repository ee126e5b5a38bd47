"""Waits for the copies of all tables. A minute without progress is an error.

PostgreSQL tries for ever, and only the log of the target says why it does not come on.

Deletes the rows of a move on the shard that does not own them.
"""

import time
from collections.abc import Iterable, Iterator

from django.db import transaction

from infra.sharding.sql import execute, fetch_one
from operations.moves import stream
from operations.moves.errors import MoveStuck
from operations.moves.guard import require_mine, who_holds
from operations.moves.tables import Estimate, MovedTable, iter_block_ranges, list_moved_tables
from operations.moves.types import Lines, MoveRef
from timelines.models import RecentPost

POLL_S, SAY_EVERY_S = 0.05, 2.0
STILL_S = 60.0


def await_copies(ref: MoveRef, expected: Estimate, slots: str) -> Lines:
    """Says every SAY_EVERY_S how many rows are there, by the estimate, and how long it takes.

    `slots`: the pattern of the slots by which tables are copied. Raises: MoveStuck.
    """
    began_s = said_s = moved_s = time.monotonic()
    reported, signs = 0, None
    while (state := stream.read_stream(ref)).waiting:
        position, is_reading = stream.read_copying(ref.source, slots)
        before, signs = signs, (state.waiting, state.copying_rows, position)
        now_s = time.monotonic()
        if is_reading or signs != before:
            moved_s = now_s
        elif now_s > moved_s + STILL_S:
            raise MoveStuck(_describe_halt(ref, state))
        if now_s > said_s + SAY_EVERY_S:
            said_s, copied = now_s, _count_copied(expected, state)
            yield max(0, copied - reported)
            reported = max(copied, reported)
            yield _describe(expected, state, copied, now_s - began_s)
        time.sleep(POLL_S)


def _count_copied(expected: Estimate, state: stream.StreamState) -> int:
    left = sum(expected.by_table.get(name, 0) for name in state.waiting)
    return max(0, expected.rows - left + state.copying_rows)


def _describe(expected: Estimate, state: stream.StreamState, copied: int, took_s: float) -> str:
    rate = copied / took_s
    left_s = f"{(expected.rows - copied) / rate:,.0f} s left" if rate else "begins"
    return (
        f"copied about {copied:,} of {expected.rows:,} rows, {rate:,.0f} rows/s, {left_s};"
        f" {len(state.waiting)} tables to do, {state.behind_bytes:,} bytes behind"
    )


def _describe_halt(ref: MoveRef, state: stream.StreamState) -> str:
    return (
        f"{ref.target} has copied nothing for {STILL_S:g} s, {len(state.waiting)} tables to do,"
        f" first {min(state.waiting)}: its log says why, or {ref.source} waits for"
        f" {who_holds(ref.source)}. Mend that and run moves resume, or run moves abort and begin"
        " again"
    )


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
