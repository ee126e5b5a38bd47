"""Which records a page of a poll changes, so that the next poll knows what was served."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from posts.ids import PostId
from timelines.polling.poll import Poll
from timelines.polling.records import EnteredCursor, ReturnedPosts
from timelines.polling.types import LatePost, LatePosts, PollRecord, Returned

# A record keeps at least so many of the posts that its clients got last. A post whose push is
# repeated, by a retry or by each chunk of a big fan-out, becomes visible once more each time.
REMEMBERED = 100


class PollAnswer(NamedTuple):
    """A page of a poll. `shown`: its ids, newest first. `lacking`: what it should have returned.

    `owed`: fresh late posts that had no room on the page. `pending`: those to be returned again
    that had none. `is_cut`: newer entries had no room either, and the client goes down to them.
    """

    shown: Sequence[PostId]
    lacking: Collection[PostId]
    owed: Collection[LatePost]
    pending: Collection[LatePost]
    is_cut: bool


def list_record_changes(poll: Poll, page: PollAnswer) -> Sequence[EnteredCursor | ReturnedPosts]:
    """The changes of the records after a page."""
    if not page.shown:
        return []
    if max(page.shown) <= poll.cursor:
        return [ReturnedPosts(poll.cursor, _returned_at_cursor(poll, page))]
    record = _record_of_new_cursor(poll, page)
    new = max(page.shown)
    return [EnteredCursor(new, record), ReturnedPosts(new, _returned_on_way(poll, page, record))]


def _record_of_new_cursor(poll: Poll, page: PollAnswer) -> PollRecord:
    """For a page that moved the client from its cursor to a newer one."""
    record, late = poll.record, poll.late
    left = [*page.owed, *page.pending]
    owed = dict.fromkeys((*_list_unread(poll), *(post.event for post in left)))
    floor = max(late.floor, _latest_floor(late.end, left))
    had = [i for i in (*record.served, *poll.returned.served) if i not in page.lacking]
    shown = poll.cursor, *owed, *page.shown
    return PollRecord(
        1,
        floor,
        late.end,
        _remember(had, shown, late, floor),
        known=max(record.known, late.end),
        owed=tuple(owed),
    )


def _returned_on_way(poll: Poll, page: PollAnswer, record: PollRecord) -> Returned:
    """As the record, but what had no room to be returned again was returned once."""
    owed = {*poll.returned.owed} if _is_unread(poll.late) else set()
    owed |= {post.event for post in page.owed}
    served = tuple(i for i in record.served if i not in owed)
    cut = (poll.cursor, min(page.shown)) if page.is_cut else ()
    return Returned(0, record.known, served, tuple(owed), record.owed, cut)


def _returned_at_cursor(poll: Poll, page: PollAnswer) -> Returned:
    """For a page that had late posts only, so that the client keeps its cursor.

    A client that is alone, and asks on, got what was returned before this page.
    """
    shown, late, before = set(page.shown), poll.late, poll.returned
    returned = [post for post in late.posts if post.event in shown]
    got = {*before.served}.difference(before.pending)
    lacking = [*returned, *page.owed, *(post for post in page.pending if post.event not in got)]
    floor = 0 if poll.record.is_shared else _latest_floor(late.end, lacking)
    ids = tuple(post.event for post in returned)
    return Returned(floor, served=ids, pending=before.pending)


def _is_unread(late: LatePosts) -> bool:
    """Whether late posts are missing."""
    return late.seen_until is None or late.end < late.seen_until


def _list_unread(poll: Poll) -> list[PostId]:
    """What the clients are owed and the poll did not find, if late posts are missing.

    With what only some of them got: this one may be another."""
    if not _is_unread(poll.late):
        return []
    read, of_all = {post.event for post in poll.late.posts}, {*poll.record.served}
    some = (i for i in poll.returned.served if i not in of_all)
    return [i for i in (*poll.returned.pending, *some) if i not in read]


def _remember(
    had: Iterable[PostId], shown: Iterable[PostId], late: LatePosts, floor: int
) -> tuple[PostId, ...]:
    """These ids, each once. The next poll may find those that became visible after `floor`; of the
    others, some may become visible once more, and the latest are kept.
    """
    last_shown, again = dict.fromkeys(shown), {post.event for post in late.posts}
    needed = {post.event for post in late.posts if post.visible_ms > floor}
    last = {i: None for i in had if i not in again} | {i: None for i in had if i in again}
    ordered = [*(i for i in last if i not in last_shown), *last_shown]
    end = len(ordered) - REMEMBERED
    is_unknown = late.seen_until is None
    return tuple(i for n, i in enumerate(ordered) if n >= end or is_unknown or i in needed)


def _latest_floor(end: int, owed: Collection[LatePost]) -> int:
    """`end`, or the moment before the first of the owed posts: the next poll must find them."""
    return min([end, *(post.visible_ms - 1 for post in owed)])
