"""Which records a page of a poll changes, so that the next poll knows what was served."""

from collections.abc import Collection, Sequence

from infra.api.pages import Window
from posts.ids import PostId
from timelines.polling.poll import Poll
from timelines.polling.records import ChangedRecord, EnteredCursor
from timelines.polling.types import CutPage, LatePost, PollRecord


def list_changes(
    poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost], window: Window, is_cut: bool
) -> Sequence[EnteredCursor | ChangedRecord]:
    """The changes of the records after a page. `owed`: late posts that had no room on the page.

    `is_cut`: the page was full, and there are older entries.
    """
    if not shown:
        return []
    cut_page = CutPage(poll.cursor, min(shown)) if is_cut and window.min_id is None else None
    if window.min_id is None and window.max_id is not None:
        return _list_of_later_page(poll, shown, cut_page)
    if max(shown) > poll.cursor:
        record = _record_of_new_cursor(poll, shown, owed)._replace(cut_page=cut_page)
        return [EnteredCursor(max(shown), record, [one.event for one in owed])]
    stayed = _record_of_same_cursor(poll, shown, owed)
    return [ChangedRecord(poll.cursor, stayed, poll.record.entered)]


def _record_of_new_cursor(
    poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost]
) -> PollRecord:
    """For a page that moved the client from its cursor to a newer one."""
    record, late = poll.record, poll.late
    floor = max(late.floor, _latest_floor(late.end, owed))
    # Of several clients with the old cursor, one may have got the posts of `stayed`.
    had = record.served if record.is_shared else record.served.union(record.stayed)
    newer = {one.event for one in late.posts if one.visible_ms > floor}
    kept = had if late.seen_until is None else had & newer
    return PollRecord(1, floor, late.end, frozenset((*shown, poll.cursor, *kept)))


def _record_of_same_cursor(
    poll: Poll, shown: Sequence[PostId], owed: Collection[LatePost]
) -> PollRecord:
    """For a page that had late posts only, so that the client keeps its cursor.

    A post that was shown twice is not shown a third time, unless another client with the cursor may
    have got it.
    """
    record, late = poll.record, poll.late
    twice = set() if record.is_shared else set(shown).intersection(record.stayed)
    floor = max(late.floor, _latest_floor(min(late.end, poll.repeated_since), owed))
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


def _latest_floor(end: int, owed: Collection[LatePost]) -> int:
    """`end`, or the moment before the first of the owed posts: the next poll must find them."""
    return min([end, *(one.visible_ms - 1 for one in owed)])


def _list_of_later_page(
    poll: Poll, shown: Sequence[PostId], cut_page: CutPage | None
) -> list[ChangedRecord]:
    """For a client that goes on below a cut page. Its next poll asks from the top of that page.

    `cut_page`: this page, if it is cut, too. The posts count as served in the record of the cut
    page only: by any other record, another client with this token would miss a late post.
    """
    place = CutPage(poll.cursor, poll.below)
    tops = [(cursor, one) for cursor, one in poll.records.items() if one.cut_page == place]
    if len(tops) == 1 and not tops[0][1].is_shared:
        cursor, record = tops[0]
        served = record._replace(served=record.served.union(shown), cut_page=cut_page)
        return [ChangedRecord(cursor, served, record.entered)]
    late = [post_id for post_id in shown if post_id < poll.cursor]
    if not late:
        return []
    stayed = _record_of_same_cursor(poll, late, poll.fresh)
    return [ChangedRecord(poll.cursor, stayed, poll.record.entered)]
