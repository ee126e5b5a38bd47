"""The switch: writes stop for a moment, and go on at the other shard.

Nothing is lost if this process dies anywhere in it. Until the guard is kept closed, it opens again
by itself; after that a periodic task opens one of the shards (interrupted.py).
"""

import time
from collections.abc import Iterator

import structlog
from django.conf import settings

from infra.changes.failpoints import failpoint
from infra.changes.hand_over import OWNER, hand_over_changes
from infra.sharding.map_changes import tell_epoch
from operations.moves import guard, rows, sessions
from operations.moves.compare import Differing, require_equal
from operations.moves.errors import MoveLost
from operations.moves.rows import await_mark
from operations.moves.stream import skip_to_now
from operations.moves.types import MoveRef, MoveRoute
from timelines.recent.low_water_mark import find_own_mark, raise_low_water_mark

# Old sessions that still work then are waited for after writes go on.
END_S = 0.15
log = structlog.get_logger()


def switch(ref: MoveRef, route: MoveRoute, busy: Differing, way_back: bool) -> dict[str, float]:
    """Flips the map, and opens the target. Returns what it took.

    `busy`: owners who have not been compared yet. `way_back`: the slot of the way back begins here.
    Raises: MoveStuck, MoveLost; then the source is open again, if the map is as before.
    """
    began_s = time.monotonic()
    guard.close_source(ref, guard.CLOSE_FOR_A_WHILE)
    closed_s = time.monotonic()
    try:
        handed = _bring_over(ref, busy, way_back)
    except Exception:
        _reopen(ref)
        raise
    failpoint("moves.closed_for_good")
    epoch = rows.flip(ref, route)
    failpoint("moves.flipped")
    open_target(ref, epoch)
    ended_s = time.monotonic()
    figures: dict[str, float] = {
        "wait_ms": round((closed_s - began_s) * 1e3),
        "closed_ms": round((ended_s - closed_s) * 1e3),
        "changes": handed,
    }
    log.info("move.switched", move=ref.id, to=ref.target, epoch=epoch, **figures)
    return figures


def open_target(ref: MoveRef, epoch: int) -> None:
    """Writes go on at the target; reads of processes with the old map end. Safety: idempotent."""
    tell_epoch(ref.source, epoch)
    before = sessions.read_clock(ref.source)
    guard.set_guard(ref, ref.source, guard.CLOSE)
    ends_at = time.monotonic() + END_S
    while sessions.end_idle_sessions(ref.source, before) and time.monotonic() < ends_at:
        time.sleep(0.005)
    guard.set_guard(ref, ref.target, guard.OPEN)


def settle(ref: MoveRef, epoch: int) -> Iterator[str]:
    """Returns when no process reads the source by an old map. Until then a drain may have written
    follow-up changes there: they are given to the target, too."""
    tell_epoch(ref.source, epoch)
    before = sessions.read_clock(ref.source)
    yield from sessions.end_old_sessions(ref.source, before)
    late = hand_over_changes(ref.source, ref.target, ref.buckets.condition(OWNER))
    yield f"{ref.source}: no session is older than the switch; {late} late changes"
    yield from sessions.end_old_replica_sessions(ref.source, epoch)


def _bring_over(ref: MoveRef, busy: Differing, way_back: bool) -> int:
    """All that the source has is on the target; returns how many changes were handed over."""
    failpoint("moves.closed")
    await_mark(ref)
    failpoint("moves.applied")
    require_equal(ref, busy)
    _raise_mark(ref)
    # A commit that waits for the disk of the target: what was applied before does not.
    guard.set_guard(ref, ref.target, guard.CLOSE)
    if way_back:
        skip_to_now(ref.back())
    guard.close_source(ref, guard.KEEP_CLOSED)
    handed = hand_over_changes(ref.source, ref.target, ref.buckets.condition(OWNER))
    failpoint("moves.handed_over")
    return handed


def _raise_mark(ref: MoveRef) -> None:
    """The target has the accounts' rows of an index by author from the second on from which the
    source had them."""
    mark = find_own_mark(ref.source) if settings.RECENT_INDEX == "by_author" else None
    if mark is not None:
        raise_low_water_mark(ref.target, mark)


def _reopen(ref: MoveRef) -> None:
    try:
        guard.set_guard(ref, ref.source, guard.OPEN)
    except MoveLost as lost:  # the process that has taken over decides
        log.warning("move.not_reopened", move=ref.id, error=str(lost))
