"""A page for a client that polls: entries above its cursor, and late posts below it.

A late post is returned at once. It is returned once more, with the page that moves the client to
another cursor, if the client may not have got it: the answer may be lost, or another client with
the cursor got it (ADR 0034).
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import OperationalError

from infra.api.pages import Page, Window
from posts.fragments.read import post_id_of
from posts.ids import FIRST, PostId
from timelines.feeds.feed import Feed
from timelines.polling.poll import LateParts, Poll, list_due, sort_late
from timelines.polling.progress import PollAnswer, list_record_changes
from timelines.polling.records import save_records
from timelines.polling.types import LatePost
from timelines.types import TimeRange


class PolledPage(NamedTuple):
    """Status entities, newest first. `owed`, `pending`, `is_cut`: as of PollAnswer."""

    statuses: Sequence[bytes]
    owed: Sequence[LatePost] = ()
    pending: Sequence[LatePost] = ()
    has_older: bool = False
    is_cut: bool = False


def poll_page(feed: Feed, poll: Poll, window: Window) -> Page[bytes]:
    """One page for a polling client. Its `newer` is never below the cursor.

    Raises: OperationalError if the late posts could not be read and this cannot be recorded: then
    the client must keep its cursor. Cost: one round trip if a post is shown.
    """
    take = _take_next if window.min_id is not None else _take_newest
    late = sort_late(poll)
    page = take(feed, poll.cursor, late, window.limit)
    ids, lacking = [*map(post_id_of, page.statuses)], {post.event for part in late for post in part}
    answer = PollAnswer(ids, lacking, page.owed, page.pending, page.is_cut)
    changes = list_record_changes(poll, answer)
    if not save_records(poll.poller, changes) and poll.late.seen_until is None:
        raise OperationalError("late posts can neither be read nor be kept for later")
    if not ids:
        return Page([], None, None)
    older = ids[-1].public if page.has_older else None
    return Page(page.statuses, older, max(poll.cursor, ids[0]).public)


def _take_next(feed: Feed, cursor: PostId, late: LateParts, limit: int) -> PolledPage:
    """Fresh late posts get room before newer entries, because those move the cursor.

    There is always an older entry: the cursor's own.
    """
    newer = feed.take_newer(TimeRange(cursor), limit)
    fresh = _take_late(feed, late.fresh, limit)
    page = _with_late(feed, newer[: limit - len(fresh)], fresh, late, limit)
    return page._replace(has_older=True)


def _take_newest(feed: Feed, cursor: PostId, late: LateParts, limit: int) -> PolledPage:
    """Newer entries get room first. Late posts are last, because they are below the cursor.

    A page that is cut has none of them: its client goes down to entries above the cursor only.
    """
    newer = feed.take_older(TimeRange(cursor), limit + 1)
    if len(newer) > limit:
        return PolledPage(newer[:limit], *late, has_older=True, is_cut=True)
    fresh = _take_late(feed, late.fresh, limit - len(newer))
    return _with_late(feed, newer, fresh, late, limit)


def _with_late(
    feed: Feed,
    newer: Sequence[bytes],
    fresh: Sequence[bytes],
    late: LateParts,
    limit: int,
) -> PolledPage:
    """Newer entries, fresh late posts, and in the rest of the page what is returned again.

    That does not fill the page: a client that asks on while a page is full gets what is new. Only a
    page that moves the client on has it: so each client gets it once.
    """
    first = [*newer, *fresh]
    due = list_due(late.again, max(map(post_id_of, newer), default=FIRST))
    again = _take_late(feed, due, room := limit - 1 - len(first))
    statuses = sorted([*first, *again], key=post_id_of, reverse=True)
    gone = set(due).difference(_list_left(due, again, room))
    pending = [post for post in late.again if post not in gone]
    return PolledPage(statuses, _list_left(late.fresh, fresh, limit - len(newer)), pending)


def _take_late(feed: Feed, late: Sequence[LatePost], count: int) -> list[bytes]:
    return feed.take((post.entry for post in late), count) if late and count > 0 else []


def _list_left(late: Sequence[LatePost], shown: Sequence[bytes], room: int) -> list[LatePost]:
    """The late posts after the last one shown, if the room for them was used up."""
    if len(shown) < room:
        return []
    ids = set(map(post_id_of, shown))
    last = max((n for n, post in enumerate(late) if post.event in ids), default=-1)
    return list(late[last + 1 :])
