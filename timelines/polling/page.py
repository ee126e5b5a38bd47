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
from timelines.polling.progress import list_changes
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
    """Status entities, newest first. `owed`: late posts that had no room on the page."""

    statuses: Sequence[bytes]
    owed: Sequence[LatePost]
    has_older: bool

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
    changes = list_changes(poll, ids, page.owed, window, page.has_older)
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
    fresh, again = poll.fresh, poll.list_again(bool(newer))
    first = _take_late(timeline, fresh, limit)
    newer = newer[: limit - len(first)]
    last = _take_late(timeline, again, limit - len(first) - len(newer))
    statuses = sorted([*first, *newer, *last], key=id_of, reverse=True)
    owed = _list_owed(poll, fresh, first, limit) + _list_shared(poll, last)
    return PolledPage(statuses, owed, has_older=True)


def _take_newest(timeline: PolledTimeline, poll: Poll, limit: int) -> PolledPage:
    """Newer entries get room first. Late posts are last, because they are below the cursor."""
    newer: list[bytes] = []
    if poll.below > poll.cursor:
        newer = timeline.take_older(TimeRange(poll.cursor, poll.below), limit + 1)
    late = [p for p in [*poll.fresh, *poll.list_again(bool(newer))] if p.event < poll.below]
    late.sort(key=lambda one: one.event, reverse=True)
    shown = [*newer, *_take_late(timeline, late, limit + 1 - len(newer))]
    last = shown[min(len(newer), limit) : limit]
    # A client that must go down this page for its newer entries finds the late posts there too.
    must_go_down = len(newer) > limit
    owed = [] if must_go_down else _list_owed(poll, late, last, limit - len(newer))
    owed += _list_shared(poll, last)
    return PolledPage(shown[:limit], owed, has_older=len(shown) > limit)


def _take_late(timeline: PolledTimeline, late: Sequence[LatePost], count: int) -> list[bytes]:
    return timeline.take((one.entry for one in late), count) if late and count > 0 else []


def _list_owed(
    poll: Poll, late: Sequence[LatePost], shown: Sequence[bytes], room: int
) -> list[LatePost]:
    """The late posts after the last one shown, if the room for them was used up."""
    if len(shown) < room:
        return []
    ids = set(map(id_of, shown))
    last = max((n for n, one in enumerate(late) if one.event in ids), default=-1)
    return list(late[last + 1 :])


def _list_shared(poll: Poll, shown: Sequence[bytes]) -> list[LatePost]:
    """Late posts that another client with this cursor may have got, and this client did not."""
    ids = set(map(id_of, shown))
    return [one for one in poll.stayed if poll.record.is_shared and one.event not in ids]
