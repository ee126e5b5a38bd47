"""Begins a poll: finds the late posts for a client, before the page itself is read."""

from collections.abc import Callable, Iterable
from typing import Any

from infra.api.pages import Window
from infra.caching.questions import Question
from infra.shared_thread import need_own_thread
from infra.telemetry.reached_branches import reached
from posts.ids import EPOCH, PostId
from timelines.polling.poll import Poll
from timelines.polling.records import Poller, Records, load_records
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
    Raises: InvalidCursor. Cost: what `load_records` and `load_late` cost.
    """
    if not is_poll(poller.client, window):
        return None
    need_own_thread()  # polls read shards
    cursor, records = range_of(window).above, load_records(poller, at_ms // 1000 - EPOCH, also)
    record, late = _find_late(records, cursor, load_late)
    return Poll(poller, cursor, record, records.count_entered(cursor), late, at_ms)


def _find_late(
    records: Records, cursor: PostId, load_late: LoadLate
) -> tuple[PollRecord, LatePosts]:
    """What all clients with the cursor were served, and the late posts since then."""
    known = records.find(cursor)
    if known is not None:
        return _since_floor(known, load_late(cursor, known.floor))
    reached("polls.record_missing")
    late, stored = load_late(cursor, None), records.by_cursor.get(cursor)
    if stored is None:
        return PollRecord(0, late.floor, late.floor), late
    if stored.floor < late.floor:  # it owes posts
        late = load_late(cursor, stored.floor)
    return _without_others(stored, late.floor), late


def _since_floor(known: PollRecord, late: LatePosts) -> tuple[PollRecord, LatePosts]:
    """If the floor had to be lowered, the times of a page that was cut say nothing any more."""
    is_lowered = late.floor < known.floor
    return known._replace(cut_page=None) if is_lowered else known, late


def _without_others(stored: PollRecord, floor: int) -> PollRecord:
    """A record of some clients, if there may be others, who got everything up to the floor."""
    entered, stayed = max(2, stored.entered), stored.stayed
    return PollRecord(entered, floor, floor, (), stayed, stored.stayed_at, stored.stayed_times)
