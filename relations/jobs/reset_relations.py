"""Ends all edges of one account by the actions that people's own acts take."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from accounts.errors import AccountNotFound
from infra.jobs.passes import in_turn
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Table, walk_table
from relations.actions.block import unblock
from relations.actions.follow import remove_follower, unfollow
from relations.types import Attribute

LIVE = "attribute <> 0"
FORWARD = Table("relations_forwardedge", ("follower_id", "followee_id"), ("attribute",), LIVE)
BACKWARD = Table("relations_backwardedge", ("followee_id", "follower_id"), ("attribute",), LIVE)
Row = Sequence[Any]
End = Callable[[Row], bool]


def reset_relations(work: Work, keep_blocks: bool = False) -> Iterator[Batch]:
    """Ends what the account follows and blocks, then who follows or blocks it.

    `keep_blocks`: the blocks that others hold against it stay. Each edge is a write of its own.
    Safety: idempotent; what begins while it runs may be left.
    """
    kept = frozenset((Attribute.BLACK,)) if keep_blocks else frozenset()
    forward = partial(_end_all, table=FORWARD, end=_end_forward, kept=frozenset())
    backward = partial(_end_all, table=BACKWARD, end=_end_backward, kept=kept)
    return in_turn(work, forward, backward)


def _end_all(work: Work, table: Table, end: End, kept: frozenset[Attribute]) -> Iterator[Batch]:
    for alias, rows, position in walk_table(work, table):
        ending = [row for row in rows if row[2] not in kept]
        ended = [work.dry_run or _is_ended(end, row) for row in ending]
        lines = [_line(table, row, ok) for row, ok in zip(ending, ended, strict=True)]
        left = ended.count(False)
        yield Batch(len(rows) - left, left, alias, ended.count(True), position, lines)


def _is_ended(end: End, row: Row) -> bool:
    """False: the follower has no account, so that nothing of theirs can be written."""
    try:
        end(row)
    except AccountNotFound:
        return False
    return True


def _end_forward(row: Row) -> bool:
    follower_id, followee_id, attribute = row
    end = unblock if attribute == Attribute.BLACK else unfollow
    return end(follower_id, followee_id)


def _end_backward(row: Row) -> bool:
    followee_id, follower_id, attribute = row
    if attribute == Attribute.BLACK:
        return unblock(follower_id, followee_id)
    return remove_follower(followee_id, follower_id)


def _line(table: Table, row: Row, is_ended: bool) -> str:
    follower_id, followee_id = row[:2] if table is FORWARD else row[1::-1]
    left = "" if is_ended else f": account {follower_id} does not exist"
    return f"edge {follower_id} → {followee_id}: {Attribute(row[2]).name}{left}"
