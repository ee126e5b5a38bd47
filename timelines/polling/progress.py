"""Which records a page of a poll changes, so that the next poll knows what was served."""

from collections.abc import Collection, Iterable, Sequence

from posts.ids import PostId
from timelines.polling.poll import Poll
from timelines.polling.records import ChangedRecord, EnteredCursor
from timelines.polling.types import CutPage, LatePost, LatePosts, PollRecord

# A record keeps at least so many of the posts that its clients got last. A post whose push is
# repeated, by a retry or by each chunk of a big fan-out, becomes visible once more each time.
REMEMBERED = 100


def list_record_changes(
    poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost], is_cut: bool
) -> Sequence[EnteredCursor | ChangedRecord]:
    """The changes of the records after a page. `owed`: late posts that had no room on the page.

    `is_cut`: newer entries had no room either, and the client goes down to them.
    """
    if not shown:
        return []
    if max(shown) > poll.cursor:
        record = _record_of_new_cursor(poll, shown, owed)
        if is_cut:
            record = record._replace(cut_page=CutPage(poll.cursor, min(shown)))
        return [EnteredCursor(max(shown), record)]
    stayed = _record_of_same_cursor(poll, shown, owed)
    return [ChangedRecord(poll.cursor, stayed, poll.entered)]


def _record_of_new_cursor(
    poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost]
) -> PollRecord:
    """For a page that moved the client from its cursor to a newer one."""
    record, late = poll.record, poll.late
    floor = max(late.floor, _latest_floor(late.end, owed))
    # Of several clients with the old cursor, one may have got the posts of `stayed`.
    had = poll.served if record.is_shared else [*poll.served, *record.stayed]
    return PollRecord(
        1,
        floor,
        late.end,
        _remember(had, [poll.cursor, *shown], late, floor),
        known=max(record.known, late.end),
        owed=(*_list_unread(poll), *(post.event for post in owed)),
    )


def _record_of_same_cursor(
    poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost]
) -> PollRecord:
    """For a page that had late posts only, so that the client keeps its cursor.

    A post that was shown twice is not shown a third time, unless another client with the cursor may
    have got it.
    """
    record, late = poll.record, poll.late
    twice = [] if record.is_shared else [i for i in shown if i in record.stayed]
    floor = max(late.floor, _latest_floor(min(late.end, poll.repeated_since), owed))
    is_again = poll.is_at_once and set(record.stayed).issuperset(shown)
    stayed = [i for i in poll.stay_order if i not in twice]
    return record._replace(
        entered=record.clients,
        floor=floor,
        served=_remember(poll.served, twice, late, floor),
        stayed=_remember(stayed, [i for i in shown if i not in twice], late, floor),
        stayed_at=poll.now_ms,
        stayed_times=record.stayed_times + 1 if is_again else 1,
        owed=tuple(dict.fromkeys((*record.owed, *(post.event for post in owed)))),
    )


def _list_unread(poll: Poll) -> list[PostId]:
    """What the record owes and the poll did not find, if late posts are missing."""
    late = poll.late
    if late.seen_until is not None and late.end == late.seen_until:
        return []
    read = {post.event for post in late.posts}
    return [i for i in poll.record.owed if i not in read]


def _remember(
    had: Iterable[PostId], shown: Iterable[PostId], late: LatePosts, floor: int
) -> tuple[PostId, ...]:
    """These ids, each once. The next poll may find those that became visible after `floor`; of the
    others, some may become visible once more, and the latest are kept.
    """
    again = {post.event for post in late.posts}
    needed = {post.event for post in late.posts if post.visible_ms > floor}
    last = {i: None for i in had if i not in again} | {i: None for i in had if i in again}
    ordered = [*(i for i in last if i not in shown), *shown]
    end = len(ordered) - REMEMBERED
    is_unknown = late.seen_until is None
    return tuple(i for n, i in enumerate(ordered) if n >= end or is_unknown or i in needed)


def _latest_floor(end: int, owed: Collection[LatePost]) -> int:
    """`end`, or the moment before the first of the owed posts: the next poll must find them."""
    return min([end, *(post.visible_ms - 1 for post in owed)])
