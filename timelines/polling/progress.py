"""What a page of a poll leaves in the records, so that the next poll knows what was served."""

from collections.abc import Collection, Sequence

from infra.api.pages import Window
from posts.ids import PostId
from timelines.polling.poll import Poll
from timelines.polling.records import ChangedRecord, EnteredCursor
from timelines.polling.types import LatePost, PollRecord, Walk


def list_changes(
    poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost], window: Window, is_cut: bool
) -> Sequence[EnteredCursor | ChangedRecord]:
    """What a page changes in the records. `owed`: late posts that it had no room for.

    `is_cut`: more of the page is below it.
    """
    if not shown:
        return []
    walk = Walk(poll.cursor, min(shown)) if is_cut and window.min_id is None else None
    if window.min_id is None and window.max_id is not None:
        return _list_walked(poll, shown, walk)
    if max(shown) > poll.cursor:
        record = _record_moved(poll, shown, owed)._replace(walk=walk)
        return [EnteredCursor(max(shown), record, [one.event for one in owed])]
    stayed = _record_stayed(poll, shown, owed)
    return [ChangedRecord(poll.cursor, stayed, poll.record.entered)]


def _record_moved(poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost]) -> PollRecord:
    """Of the cursor that the client has now."""
    record, late = poll.record, poll.late
    floor = max(late.floor, min([late.end, *(one.visible_ms - 1 for one in owed)]))
    had = record.served if record.is_shared else record.served.union(record.stayed)
    newer = {one.event for one in late.posts if one.visible_ms > floor}
    kept = had if late.seen_until is None else had & newer
    return PollRecord(1, floor, late.end, frozenset((*shown, poll.cursor, *kept)))


def _record_stayed(poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost]) -> PollRecord:
    """Of the same cursor. What was shown twice is not shown a third time, unless another client may
    have got it."""
    record, late = poll.record, poll.late
    twice = set() if record.is_shared else set(shown).intersection(record.stayed)
    latest = min([late.end, poll.repeated_since, *(one.visible_ms - 1 for one in owed)])
    floor = max(late.floor, latest)
    old = {one.event for one in late.posts if one.visible_ms <= floor}
    dropped = old.union(twice, shown)
    is_again = poll.is_at_once and set(record.stayed).issuperset(shown)
    return record._replace(
        entered=max(1, record.entered),
        floor=floor,
        served=record.served.union(twice) - old,
        stayed=(*(i for i in record.stayed if i not in dropped), *(set(shown) - old - twice)),
        stayed_at=poll.now_ms,
        stayed_times=record.stayed_times + 1 if is_again else 1,
    )


def _list_walked(poll: Poll, shown: Sequence[PostId], walk: Walk | None) -> list[ChangedRecord]:
    """For a client that goes down a page that was cut: its next poll asks from the top of it.

    `walk`: where it goes on. Only its own record may have what it was served: another client with
    this token would miss a late post.
    """
    place = Walk(poll.cursor, poll.below)
    tops = [(cursor, one) for cursor, one in poll.records.items() if one.walk == place]
    if len(tops) == 1 and not tops[0][1].is_shared:
        cursor, record = tops[0]
        walked = record._replace(served=record.served.union(shown), walk=walk)
        return [ChangedRecord(cursor, walked, record.entered)]
    late = [post_id for post_id in shown if post_id < poll.cursor]
    if not late:
        return []
    return [ChangedRecord(poll.cursor, _record_stayed(poll, late, poll.fresh), poll.record.entered)]
