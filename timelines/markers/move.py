"""Moves an account's markers."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from timelines.markers.errors import MarkerConflict
from timelines.markers.read import read_markers
from timelines.markers.types import MarkerMove, MarkerState, Timeline

WRITE = """
INSERT INTO markers_marker (account_id, timeline, last_read_id, version, updated_at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (account_id, timeline) DO UPDATE SET last_read_id = EXCLUDED.last_read_id,
    version = EXCLUDED.version, updated_at = EXCLUDED.updated_at
"""


def move_markers(
    account_id: int, moves: Mapping[Timeline, MarkerMove], now: datetime
) -> dict[Timeline, MarkerState]:
    """Moves all of them or none; returns what they are now.

    A marker may be moved back: who reads again from further down says so.
    Raises: MarkerMovedMeanwhile, where a move's version is not above the marker's.
    Safety: idempotent: the same move again, with its version or without, changes nothing.
    Cost: one transaction of two statements, and one for each marker that moves.
    """
    alias = shard_of(account_id)
    with transaction.atomic(using=alias):
        lock_account(alias, account_id)
        marked = read_markers(account_id, moves)
        for timeline, move in moves.items():
            before = marked.get(timeline, MarkerState("", 0, now))
            if not _is_done(before, move):
                marked[timeline] = _next(before, move, now)
                execute(alias, WRITE, (account_id, int(timeline), *marked[timeline]))
    return marked


def _is_done(before: MarkerState, move: MarkerMove) -> bool:
    return move.last_read_id == before.last_read_id and move.version in (None, before.version)


def _next(before: MarkerState, move: MarkerMove, now: datetime) -> MarkerState:
    version = before.version + 1 if move.version is None else move.version
    if version <= before.version:
        raise MarkerConflict
    return MarkerState(move.last_read_id, version, now)
