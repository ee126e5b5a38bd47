"""Reads, moves and deletes an account's markers: rows on the account's shard."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.jobs.walk import Table
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from timelines.markers.errors import MarkerConflict
from timelines.markers.types import MarkerMove, MarkerState, Timeline

MARKERS = Table("markers_marker", ("account_id", "timeline"))
READ = """
SELECT timeline, last_read_id, version, updated_at, seen_ms FROM markers_marker
WHERE account_id = %s AND timeline = ANY(%s::smallint[]) ORDER BY timeline
"""
WRITE = """
INSERT INTO markers_marker (account_id, timeline, last_read_id, version, updated_at, seen_ms)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (account_id, timeline) DO UPDATE SET last_read_id = EXCLUDED.last_read_id,
    version = EXCLUDED.version, updated_at = EXCLUDED.updated_at, seen_ms = EXCLUDED.seen_ms
"""
DELETE = "DELETE FROM markers_marker WHERE account_id = %s AND timeline = %s"


def read_markers(account_id: int, timelines: Collection[Timeline]) -> dict[Timeline, MarkerState]:
    """The markers of these timelines that were ever set. One query by primary key."""
    params = (account_id, [int(timeline) for timeline in timelines])
    rows = fetch_all(shard_of(account_id), READ, params)
    return {Timeline(timeline): MarkerState(*state) for timeline, *state in rows}


def move_markers(
    account_id: int, moves: Mapping[Timeline, MarkerMove], now: datetime
) -> dict[Timeline, MarkerState]:
    """Moves all of these markers or none; returns their new states.

    A marker may move back, when an account reads again from further down; not by a move that is
    `forward_only`.
    Raises: MarkerConflict if a move's version is not above the marker's.
    Safety: idempotent: a repeated move, with its version or without, changes nothing.
    Cost: one transaction of two statements, and one for each marker that moves.
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
        if before and (before.last_read_id, before.seen_ms or 0) >= (last_read_id, seen_ms):
            return before
        version = before.version + 1 if before else 1
        after = MarkerState(last_read_id, version, now, seen_ms)
        execute(alias, WRITE, (account_id, int(Timeline.HOME), *after))
    return after


def delete_marker(account_id: int, timeline: int) -> None:
    """Deletes one marker. Safety: idempotent. Cost: one statement."""
    execute(shard_of(account_id), DELETE, (account_id, timeline))


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
