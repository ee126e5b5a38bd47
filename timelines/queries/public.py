"""A page of the public timeline: the newest posts of all authors."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from accounts.encode import is_limited
from infra.api.pages import Page, Window
from infra.clock import now_ms
from posts.api.present import page_of_statuses
from posts.ids import FIRST, LAST, PostId
from posts.queries.viewing import ViewedPosts, view_posts
from relations.types import UNRELATED
from timelines.cache import PublicList, load_public_list
from timelines.polling.late_posts import SKEW_MS
from timelines.polling.page import poll_page
from timelines.polling.poll import Poll
from timelines.polling.records import Poller, load_records
from timelines.polling.types import LatePost, LatePosts
from timelines.queries.home import decode_cursor
from timelines.recent.actions.settle_posts import SETTLE_MS
from timelines.types import Entry, TimeRange


class PublicViewer(NamedTuple):
    """The viewer (None: signed out) and the time, because mutes end."""

    account_id: int | None
    now_ms: int


def public_page(
    viewer_id: int | None,
    window: Window,
    clock_ms: Callable[[], int] = now_ms,
    client: str | None = None,
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends, which is bounded.

    `client`: who polls, if the window has a lower cursor. The page then has late posts too.
    Cost when warm: two round trips and no SQL. Posts that the viewer may not see cost one more per
    refill. A poll costs two more.
    """
    at_ms, public = clock_ms(), load_public_list()
    timeline = PolledPublic(PublicViewer(viewer_id, at_ms), list(public.listed))
    above = window.min_id or window.since_id
    if above is not None and client is not None:
        poller = Poller(viewer_id or client, "public", client, window.way)
        return poll_page(timeline, _begin_poll(poller, public, window, at_ms), window)
    if window.min_id is not None:
        newer = timeline.take_newer(decode_cursor(window.min_id), window.limit)
        return page_of_statuses(newer[::-1], has_older=True)
    below = decode_cursor(window.max_id) if window.max_id else LAST
    time_range = TimeRange(decode_cursor(above) if above else FIRST, below)
    shown = timeline.take_older(time_range, window.limit + 1)
    return page_of_statuses(shown[: window.limit], has_older=len(shown) > window.limit)


class PolledPublic(NamedTuple):
    """PolledTimeline of the list. `ids`: newest first."""

    viewer: PublicViewer
    ids: Sequence[PostId]

    def take_newer(self, above: PostId, count: int) -> list[bytes]:
        return _take(self.viewer, [i for i in reversed(self.ids) if i > above], count)

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        inside = [i for i in self.ids if time_range.above < i < time_range.below]
        return _take(self.viewer, inside, count)

    def take(self, entries: Iterable[Entry], count: int) -> list[bytes]:
        return _take(self.viewer, [one.event for one in entries], count)


def _begin_poll(poller: Poller, public: PublicList, window: Window, at_ms: int) -> Poll:
    cursor, records = decode_cursor(window.min_id or window.since_id or ""), load_records(poller)
    below = decode_cursor(window.max_id) if window.max_id else LAST
    record = records.get(cursor)
    floor = _find_floor(public, cursor) if record is None else record.floor
    late = [
        LatePost(Entry.of_post(post_id), since)
        for post_id, since in public.listed.items()
        if post_id < cursor and since > floor
    ]
    late.sort(key=lambda one: (one.visible_ms, one.event))
    return Poll(poller, cursor, below, records, LatePosts(late, floor, public.at_ms), at_ms)


def _find_floor(public: PublicList, cursor: PostId) -> int:
    """A client that saw the cursor's post saw what had been on the list before."""
    since = public.listed.get(cursor)
    return (cursor.posted_at_s * 1000 - SKEW_MS if since is None else since) - SETTLE_MS


def _take(viewer: PublicViewer, ids: Sequence[PostId], count: int) -> list[bytes]:
    """The first `count` posts that the viewer may see and did not mute."""
    shown: list[bytes] = []
    while ids and len(shown) < count:
        part, ids = ids[: count - len(shown)], ids[count - len(shown) :]
        view = view_posts({post_id: post_id for post_id in part}, viewer.account_id).value
        shown += [view.present(i, i) for i in part if _is_wanted(viewer, view, i)]
    return shown


def _is_wanted(viewer: PublicViewer, view: ViewedPosts, post_id: PostId) -> bool:
    """Leaves out limited accounts: their followers see the posts at home."""
    relationship = view.relationships.get(post_id.author_id, UNRELATED)
    if is_limited(view.hydrated.accounts.get(post_id.author_id, b"")):
        return False
    return view.allows(post_id, post_id) and not relationship.is_muted_at(viewer.now_ms)
