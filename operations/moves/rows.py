"""The rows of moves in the default database: which step is done, and who does the next one.

Marks: a row that the source writes and the target gets, after all that was written before it.
"""

import time
from collections.abc import Mapping
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction

from infra.sharding.buckets import BucketSet
from infra.sharding.map_changes import give_buckets
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.moves.errors import MoveLost, MoveRefused, MoveStuck
from operations.moves.models import Move
from operations.moves.types import MoveRef, MoveRoute

TAKE = """
UPDATE moves_move SET token = token + 1, figures = figures - 'stopped_by'
WHERE id = %s AND NOT is_finished RETURNING token
"""
STEP = """
UPDATE moves_move SET step = %s, is_finished = %s, stepped_at = clock_timestamp()
WHERE id = %s AND token = %s AND route = %s
"""
ROUTE = """
UPDATE moves_move SET route = %s, step = '', stepped_at = clock_timestamp()
WHERE id = %s AND token = %s AND route = %s AND step = ANY(%s) AND (epoch IS NULL) = %s
"""
NOTE = "UPDATE moves_move SET figures = figures || %s::jsonb WHERE id = %s AND token = %s"
LOCK_MOVE = "SELECT 1 FROM moves_move WHERE id = %s AND token = %s AND route = %s FOR UPDATE"
SET_EPOCH = "UPDATE moves_move SET {column} = %s WHERE id = %s"


def find_unfinished() -> Move | None:
    """The move that is not finished. There is one at most."""
    return Move.objects.filter(is_finished=False).first()


def list_moves() -> list[Move]:
    """All moves, the latest first."""
    return list(Move.objects.order_by("-pk"))


def create_move(source: str, target: str, buckets: BucketSet) -> Move:
    """Writes the row, before anything is made. Raises: MoveRefused if another move is unfinished.

    The caller is the only process that works on moves.
    """
    if unfinished := find_unfinished():
        raise MoveRefused(
            f"{unfinished} is not finished: run moves resume, moves complete, moves undo or moves"
            " abort"
        )
    return Move.objects.create(
        source=source,
        target=target,
        mask=buckets.mask,
        values=list(buckets.values),
        figures={"recent_index": settings.RECENT_INDEX},
    )


def take_move(move: Move) -> MoveRef:
    """From now on this process works on the move, and others that did fail at their next step.

    Raises: MoveRefused, also with another RECENT_INDEX, by which other tables move.
    """
    began_with = move.figures.get("recent_index", "replicated")
    if began_with != settings.RECENT_INDEX:
        raise MoveRefused(f"{move} began with RECENT_INDEX={began_with}: use it to the end")
    row = fetch_one(GLOBAL_ALIAS, TAKE, (move.pk,))
    if row is None:
        raise MoveRefused(f"{move} is finished")
    # The one before may have done a step since the move was read.
    move.refresh_from_db()
    return MoveRef(move.pk, row[0], move.source, move.target, buckets_of(move))


def buckets_of(move: Move) -> BucketSet:
    return BucketSet(move.mask, tuple(move.values))


def record_step(ref: MoveRef, route: MoveRoute, step: str, is_last: bool) -> None:
    """Raises: MoveLost."""
    _require(execute(GLOBAL_ALIAS, STEP, (step, is_last, ref.id, ref.token, route)), ref)


def begin_route(ref: MoveRef, before: str, steps: list[str], route: MoveRoute, moved: bool) -> bool:
    """Leaves the route `before` at one of these steps. False: the move is not there.

    `moved`: whether the buckets must have moved, or must not.
    """
    values = (route, ref.id, ref.token, before, steps, not moved)
    return execute(GLOBAL_ALIAS, ROUTE, values) > 0


def note_figures(ref: MoveRef, figures: Mapping[str, Any]) -> None:
    """Adds to what was measured."""
    execute(GLOBAL_ALIAS, NOTE, (msgspec.json.encode(figures).decode(), ref.id, ref.token))


def flip(ref: MoveRef, route: MoveRoute) -> int:
    """Gives the buckets to the target, in one transaction; returns the new epoch of the map.

    Raises: MoveLost if another process has the move; BucketsElsewhere.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        is_mine = fetch_all(GLOBAL_ALIAS, LOCK_MOVE, (ref.id, ref.token, route))
        _require(len(is_mine), ref)
        condition = ref.buckets.condition("bucket")
        epoch = give_buckets(ref.source, ref.target, condition, ref.buckets.size)
        column = "undo_epoch" if ref.is_back else "epoch"
        execute(GLOBAL_ALIAS, SET_EPOCH.format(column=column), (epoch, ref.id))
    return epoch


def _require(count: int, ref: MoveRef) -> None:
    if count != 1:
        raise MoveLost(f"move {ref.id} is not as this process left it")


POLL_S, PATIENCE_S = 0.002, 8.0
WRITE = """
INSERT INTO moves_mark AS mark (move, alias, number) VALUES (%s, %s, 1)
ON CONFLICT (move, alias) DO UPDATE SET number = mark.number + 1 RETURNING number
"""
HAS = "SELECT 1 FROM moves_mark WHERE move = %s AND alias = %s AND number >= %s"


def await_mark(ref: MoveRef, patience_s: float = PATIENCE_S) -> float:
    """Returns when the target has applied all that the source had committed; how long it took.

    Raises: MoveStuck if the target is too far behind. Cost: one write, short queries.
    """
    began_s = time.monotonic()
    row = fetch_one(ref.source, WRITE, (ref.id, ref.source))
    while fetch_one(ref.target, HAS, (ref.id, ref.source, row[0] if row else 0)) is None:
        if time.monotonic() > began_s + patience_s:
            raise MoveStuck(
                f"{ref.target} is more than {patience_s:g} s behind. If its log names no error, run"
                " moves resume later"
            )
        time.sleep(POLL_S)
    return time.monotonic() - began_s
