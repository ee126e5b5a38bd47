"""Marks: a row that the source writes and the target gets, after all that was written before it."""

import time

from infra.sharding.sql import fetch_one
from operations.moves.errors import MoveStuck
from operations.moves.types import MoveRef

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
