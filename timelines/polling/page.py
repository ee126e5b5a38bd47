"""A page for a client that polls: entries above its cursor, and late posts below it.

A late post is returned once. It is returned again if the client may not have got it: within
REPEAT_MS, or if several clients have the same cursor (ADR 0034).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from django.db import OperationalError

from infra.api.pages import Page, Window
from infra.changes.failpoints import failpoint
from posts.api.present import status_id_of
from posts.ids import PostId
from timelines.polling.poll import Poll
from timelines.polling.progress import list_record_changes
from timelines.polling.records import save_records
from timelines.polling.types import LatePost
from timelines.types import Entry, TimeRange


class PolledTimeline(Protocol):
    """Each method returns Status entities of visible entries, in the order of the entries."""

    def take_newer(self, time_range: TimeRange, count: int) -> list[bytes]:
        """Entries inside the range, oldest first."""

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        """Entries inside the range, newest first."""

    def take(self, entries: Iterable[Entry], count: int) -> list[bytes]:
        """Those of these entries that an ordinary page has, too."""


class PolledPage(NamedTuple):
    """Status entities, newest first. `owed`: late posts that had no room on the page.

    `is_cut`: nor had all newer entries, and the client must go down to them.
    """

    statuses: Sequence[bytes]
    owed: Sequence[LatePost]
    has_older: bool = False
    is_cut: bool = False

    @property
    def ids(self) -> list[PostId]:
        return list(map(id_of, self.statuses))


def id_of(status: bytes) -> PostId:
    return PostId.from_public(status_id_of(status))


def poll_page(timeline: PolledTimeline, poll: Poll, window: Window) -> Page[bytes]:
    """One page for a polling client. Its `newer` is never below the cursor.

    Raises: OperationalError if the late posts could not be read and this cannot be recorded: then
    the client must keep its cursor. Cost: one round trip if a post is shown.
    """
    if window.min_id is not None:
        page = _take_next(timeline, poll, window.limit)
    else:
        page = _take_newest(timeline, poll, window.limit)
    failpoint("polls.page_taken")
    ids = page.ids
    changes = list_record_changes(poll, ids, page.owed, page.is_cut)
    if not save_records(poll.poller, changes) and poll.late.seen_until is None:
        raise OperationalError("late posts can neither be read nor be kept for later")
    if not ids:
        return Page([], None, None)
    older = ids[-1].public if page.has_older else None
    return Page(page.statuses, older, max(poll.cursor, ids[0]).public)


def _take_next(timeline: PolledTimeline, poll: Poll, limit: int) -> PolledPage:
    """Fresh late posts get room before newer entries, because those move the cursor.

    There is always an older entry: the cursor's own.
    """
    newer = timeline.take_newer(TimeRange(poll.cursor), limit)
    fresh = _take_fresh(timeline, poll, limit)
    page = _with_again(timeline, poll, newer[: limit - len(fresh.statuses)], fresh, limit)
    return page._replace(has_older=True)


def _take_newest(timeline: PolledTimeline, poll: Poll, limit: int) -> PolledPage:
    """Newer entries get room first. Late posts are last, because they are below the cursor.

    A page that is cut has none of them: its client goes down to entries above the cursor only.
    """
    newer = timeline.take_older(TimeRange(poll.cursor), limit + 1)
    if len(newer) > limit:
        owed = [*poll.fresh, *_list_shared(poll, ())]
        return PolledPage(newer[:limit], owed, has_older=True, is_cut=True)
    return _with_again(
        timeline, poll, newer, _take_fresh(timeline, poll, limit - len(newer)), limit
    )


def _take_fresh(timeline: PolledTimeline, poll: Poll, room: int) -> PolledPage:
    """The late posts that no client with the cursor got, if there is room for them."""
    shown = _take_late(timeline, poll.fresh, room)
    return PolledPage(shown, _list_owed(poll.fresh, shown, room))


def _with_again(
    timeline: PolledTimeline, poll: Poll, newer: Sequence[bytes], fresh: PolledPage, limit: int
) -> PolledPage:
    """Newer entries, fresh late posts, and in the rest of the page what is returned again.

    That does not fill the page: a client that asks on while a page is full gets what is new.
    """
    first, room = [*newer, *fresh.statuses], _room_again(limit)
    last = _take_late(timeline, poll.list_again(bool(newer), room), room - len(first))
    statuses = sorted([*first, *last], key=id_of, reverse=True)
    return PolledPage(statuses, [*fresh.owed, *_list_shared(poll, last)])


def _room_again(limit: int) -> int:
    """How many entries a page may have with some that are returned again. Those need one place."""
    return max(1, limit - 1)


def _take_late(timeline: PolledTimeline, late: Sequence[LatePost], count: int) -> list[bytes]:
    return timeline.take((post.entry for post in late), count) if late and count > 0 else []


def _list_owed(late: Sequence[LatePost], shown: Sequence[bytes], room: int) -> list[LatePost]:
    """The late posts after the last one shown, if the room for them was used up."""
    if len(shown) < room:
        return []
    ids = set(map(id_of, shown))
    last = max((n for n, post in enumerate(late) if post.event in ids), default=-1)
    return list(late[last + 1 :])


def _list_shared(poll: Poll, shown: Sequence[bytes]) -> list[LatePost]:
    """Late posts that another client with this cursor may have got, and this client did not."""
    ids = set(map(id_of, shown))
    return [post for post in poll.stayed if poll.record.is_shared and post.event not in ids]
