"""Ends all edges of one account, by the same actions as the API."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from accounts.errors import AccountNotFound
from infra.jobs.by_database import in_turn
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Table, walk_table
from relations.actions.block import unblock
from relations.actions.follow import remove_follower, unfollow
from relations.sql import BACKWARD_TABLE, FORWARD_TABLE, edge_table
from relations.types import Attribute

IS_LIVE = f"attribute <> {Attribute.NONE:d}"
FORWARD = edge_table(FORWARD_TABLE, ("attribute",), IS_LIVE)
BACKWARD = edge_table(BACKWARD_TABLE, ("attribute",), IS_LIVE)
Row = Sequence[Any]
End = Callable[[Row], bool]


def reset_relations(work: Work, keep_blocks: bool = False) -> Iterator[Batch]:
    """Ends the account's own follows and blocks, then the follows and blocks of others.

    `keep_blocks`: the blocks that others have against the account stay. Each edge is a write of its
    own. Safety: idempotent; edges that begin while it runs may be left.
    """
    excluded = frozenset((Attribute.BLACK,)) if keep_blocks else frozenset()
    forward = partial(_end_all, table=FORWARD, end=_end_forward, excluded=frozenset())
    backward = partial(_end_all, table=BACKWARD, end=_end_backward, excluded=excluded)
    return in_turn(work, forward, backward)


def _end_all(work: Work, table: Table, end: End, excluded: frozenset[Attribute]) -> Iterator[Batch]:
    for alias, rows, position in walk_table(work, table):
        ending = [row for row in rows if row[3] not in excluded]
        ended = [work.dry_run or _is_ended(end, row) for row in ending]
        lines = [_line(table, row, ok) for row, ok in zip(ending, ended, strict=True)]
        left = ended.count(False)
        yield Batch(len(rows) - left, left, alias, ended.count(True), position, lines)


def _is_ended(end: End, row: Row) -> bool:
    """False: the follower has no account, so the edge cannot be written."""
    try:
        end(row)
    except AccountNotFound:
        return False
    return True


def _end_forward(row: Row) -> bool:
    follower_id, _, followee_id, attribute = row
    end = unblock if attribute == Attribute.BLACK else unfollow
    return end(follower_id, followee_id)


def _end_backward(row: Row) -> bool:
    followee_id, _, follower_id, attribute = row
    if attribute == Attribute.BLACK:
        return unblock(follower_id, followee_id)
    return remove_follower(followee_id, follower_id)


def _line(table: Table, row: Row, is_ended: bool) -> str:
    follower_id, followee_id = (row[0], row[2]) if table is FORWARD else (row[2], row[0])
    left = "" if is_ended else f": account {follower_id} does not exist"
    return f"edge {follower_id} → {followee_id}: {Attribute(row[3]).name}{left}"
