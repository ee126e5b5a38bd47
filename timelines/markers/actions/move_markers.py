"""Moves an account's markers: rows on the account's shard."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.api.errors import TidelineError
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from timelines.markers.cache import end_markers_of
from timelines.markers.rows import read_markers
from timelines.markers.types import MarkerMove, MarkerState, Timeline

WRITE = """
INSERT INTO markers_marker (account_id, timeline, last_read_id, version, updated_at, seen_ms)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (account_id, timeline) DO UPDATE SET last_read_id = EXCLUDED.last_read_id,
    version = EXCLUDED.version, updated_at = EXCLUDED.updated_at, seen_ms = EXCLUDED.seen_ms
"""


class MarkerConflict(TidelineError):
    """Another client has written this version or a later one. The remedy: read the marker again."""

    status = 409
    text = "Conflict during update, please try again"


def move_markers(
    account_id: int, moves: Mapping[Timeline, MarkerMove], now: datetime
) -> dict[Timeline, MarkerState]:
    """Moves all of these markers or none; returns their new states.

    A marker may move back, when an account reads again from further down; not by a move that is
    `forward_only`.
    Raises: MarkerConflict if a move's version is not above the marker's.
    Safety: idempotent: a repeated move, with its version or without, changes nothing.
    Cost: one transaction of two statements, one for each marker that moves, and a round trip.
    """
    alias = shard_of(account_id)
    with transaction.atomic(using=alias):
        lock_account(alias, account_id)
        states = read_markers(account_id, moves)
        for timeline, move in moves.items():
            before = states.get(timeline, MarkerState("", 0, now))
            if not _is_done(before, move):
                states[timeline] = _next(before, move, now)
                execute(alias, WRITE, (account_id, int(timeline), *states[timeline]))
    # Also after a move that changed nothing: the first one may have died here.
    end_markers_of(account_id)
    return states


def advance_home_marker(
    account_id: int, last_read_id: str, seen_ms: int, now: datetime
) -> MarkerState:
    """Moves the marker of home forward to this id, in base36, and to this time; returns it.

    A marker that is further already stays. Safety: idempotent. Cost: as `move_markers`.
    """
    alias = shard_of(account_id)
    with transaction.atomic(using=alias):
        lock_account(alias, account_id)
        before = read_markers(account_id, [Timeline.HOME]).get(Timeline.HOME)
        after = before or MarkerState("", 0, now)
        if (after.last_read_id, after.seen_ms or 0) < (last_read_id, seen_ms):
            after = MarkerState(last_read_id, after.version + 1, now, seen_ms)
            execute(alias, WRITE, (account_id, int(Timeline.HOME), *after))
    end_markers_of(account_id)
    return after


def _is_done(before: MarkerState, move: MarkerMove) -> bool:
    if move.forward_only and _place(move.last_read_id) <= _place(before.last_read_id):
        return True
    return move.last_read_id == before.last_read_id and move.version in (None, before.version)


def _place(last_read_id: str) -> int:
    """Grows with ids of posts and with those of notifications. -1 for a marker that was never set.

    Decimal numbers have the same order if they are read as base36.
    """
    return int(last_read_id, 36) if last_read_id else -1


def _next(before: MarkerState, move: MarkerMove, now: datetime) -> MarkerState:
    version = before.version + 1 if move.version is None else move.version
    if version <= before.version:
        raise MarkerConflict
    return MarkerState(move.last_read_id, version, now)
