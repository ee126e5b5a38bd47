"""Waits for the copies of all tables. A minute without progress is an error.

PostgreSQL tries for ever, and only the log of the target says why it does not come on.
"""

import time

from operations.moves import stream
from operations.moves.errors import MoveStuck
from operations.moves.plan import Estimate
from operations.moves.types import Lines, MoveRef

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
        f" first {min(state.waiting)}: its log says why. Mend that and run moves resume, or run"
        " moves abort and begin again"
    )
