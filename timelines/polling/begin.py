"""Begins a poll: finds the late posts for a client, before the page itself is read."""

from collections.abc import Callable, Iterable
from typing import Any

from infra.api.pages import Window
from infra.caching.questions import Question
from infra.shared_thread import need_own_thread
from infra.telemetry.reached_branches import reached
from posts.ids import EPOCH, PostId
from timelines.cursors import range_of
from timelines.polling.poll import Poll
from timelines.polling.records import Poller, StoredRecord, load_record
from timelines.polling.types import LatePosts, PollRecord, Returned

# The late posts of a cursor, after a floor (or None).
LoadLate = Callable[[PostId, int | None], LatePosts]


def is_poll(client: str | None, window: Window) -> bool:
    """Whether the client asks for posts above the newest one that it has seen."""
    return client is not None and window.is_poll


def begin_poll(
    poller: Poller,
    window: Window,
    at_ms: int,
    load_late: LoadLate,
    also: Iterable[Question[Any]] = (),
) -> Poll | None:
    """None if this is no poll. Call it before the entries of the page are read.

    `also`: what `load_late` needs from Redis, in the round trip of the records.
    Raises: InvalidCursor. Cost: what `load_record` and `load_late` cost.
    """
    if not is_poll(poller.client, window):
        return None
    need_own_thread()  # polls read shards
    cursor, poller = range_of(window).above, poller.polling(window)
    stored = load_record(poller, cursor, at_ms // 1000 - EPOCH, also)
    return Poll(poller, cursor, *_find_late(stored, load_late))


def _find_late(stored: StoredRecord, load_late: LoadLate) -> tuple[PollRecord, Returned, LatePosts]:
    """What all clients with the cursor were served, what one of them was, and the late posts since
    then."""
    record = stored.of_all
    if record is None:
        reached("polls.record_missing")
        record, late = _find_unrecorded(stored, load_late)
        returned = stored.returned or Returned(pending=record.owed)
    else:
        returned = stored.returned or Returned(pending=record.owed)
        # A client that is alone got what was returned before.
        since = record.floor if record.is_shared else max(record.floor, returned.floor)
        late = load_late(stored.cursor, since)
        record = record._replace(floor=since)
    # If the floor had to be lowered, or a clock went back, the times say nothing any more.
    if late.floor < record.floor or (late.seen_until or record.known) < record.known:
        record = record._replace(known=late.floor)
        returned = returned._replace(known=late.floor, cut=())
    return record, returned, late


def _find_unrecorded(stored: StoredRecord, load_late: LoadLate) -> tuple[PollRecord, LatePosts]:
    """If there may be other clients, who got everything that was visible before the cursor was."""
    cursor, record = stored.cursor, stored.record
    late = load_late(cursor, None)
    seen = late.floor
    if record is None:
        return PollRecord(0, seen, seen, known=seen), late
    if record.floor < seen:  # it owes posts
        late = load_late(cursor, record.floor)
    entered, known = max(2, record.entered), min(record.known, seen)
    return PollRecord(entered, late.floor, late.floor, known=known, owed=record.owed), late
