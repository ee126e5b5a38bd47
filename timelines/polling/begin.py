"""Begins a poll: finds the late posts for a client, before the page itself is read."""

from collections.abc import Callable, Iterable
from typing import Any

from infra.api.pages import Window
from infra.caching.questions import Question
from infra.shared_thread import need_own_thread
from infra.telemetry.reached_branches import reached
from posts.ids import EPOCH, PostId
from timelines.polling.poll import Poll
from timelines.polling.records import Poller, StoredRecord, load_record
from timelines.polling.types import LatePosts, PollRecord
from timelines.queries.cursors import range_of

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
    cursor = range_of(window).above
    stored = load_record(poller, cursor, at_ms // 1000 - EPOCH, also)
    record, late = _find_late(stored, load_late)
    return Poll(poller, cursor, record, stored.entered, late, at_ms)


def _find_late(stored: StoredRecord, load_late: LoadLate) -> tuple[PollRecord, LatePosts]:
    """What all clients with the cursor were served, and the late posts since then."""
    cursor, record, known = stored.cursor, stored.record, stored.of_all
    if known is not None:
        return _since_floor(known, load_late(cursor, known.floor))
    reached("polls.record_missing")
    late = load_late(cursor, None)
    if record is None:
        return PollRecord(0, late.floor, late.floor), late
    seen = late.floor
    if record.floor < seen:  # it owes posts
        late = load_late(cursor, record.floor)
    return _without_others(_since_floor(record, late)[0], late.floor, seen), late


def _since_floor(record: PollRecord, late: LatePosts) -> tuple[PollRecord, LatePosts]:
    """If the floor had to be lowered, or a clock went back, the times of the record say nothing any
    more."""
    is_lowered = late.floor < record.floor
    if is_lowered:
        record = record._replace(cut_page=None)
    is_back = late.seen_until is not None and late.seen_until < record.known
    return (record._replace(known=late.floor) if is_lowered or is_back else record), late


def _without_others(stored: PollRecord, floor: int, seen: int) -> PollRecord:
    """A record of some clients, if there may be others, who got everything up to `seen`."""
    return stored._replace(
        entered=max(2, stored.entered),
        floor=floor,
        seen_until=floor,
        served=(),
        cut_page=None,
        known=min(stored.known, seen),
    )
