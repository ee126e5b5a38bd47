"""A page of the public timeline: the newest posts of all authors.

The newest ones are on a list in Redis. What is below it comes from the recent-posts index, as far
as that reaches.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from accounts.cache import profiles
from infra.api.pages import Page, Window
from infra.caching.questions import Question, RoundTrip
from infra.clock import now_ms
from posts.cache.newest import NewestPosts, ask_newest_posts
from posts.fragments.read import has_media
from posts.ids import EPOCH, FIRST, LAST, SEQUENCES, PostId
from posts.queries.rows import PAST_ALL
from posts.reading.viewing import ViewedPosts
from posts.types import Kind, PostRange, Visibility
from timelines.cache import TTL_S, PublicList, ask_public_list
from timelines.errors import PublicEnded
from timelines.feeds.feed import Feed
from timelines.feeds.open import show_open
from timelines.feeds.page import feed_page
from timelines.polling.begin import begin_poll
from timelines.polling.ordinary import ask_has_polled, enter_by_page
from timelines.polling.records import Poller
from timelines.polling.types import LatePost, LatePosts
from timelines.recent.actions.settle_posts import SETTLE_MS
from timelines.recent.queries.late_rows import SKEW_MS
from timelines.recent.queries.newest_posts import find_reach
from timelines.recent.queries.public_posts import iter_public
from timelines.types import Entry, TimeRange

# Own posts of this time before the list was read may be missing on it, because clocks differ.
OWN_S = TTL_S
MOST_OWN = 40


def public_page(
    viewer_id: int | None,
    window: Window,
    clock_ms: Callable[[], int] = now_ms,
    client: str | None = None,
    only_media: bool = False,
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the posts of RECENT_DAYS end.

    `client`: who polls, if the window has a lower cursor. The page then has late posts too.
    Raises: InvalidCursor, PublicEnded.
    Cost when warm: two round trips and no SQL. Posts that the viewer may not see cost one more per
    refill. A poll costs two more. A page that reaches below the list costs as `iter_public`.
    """
    name = "public media" if only_media else "public"
    at_ms, poller = clock_ms(), Poller(viewer_id or client or "", name, client)
    polled = ask_has_polled(poller if window.is_newest else None)
    public = _load_list(viewer_id, polled)
    listed = sorted(public.listed, reverse=True)
    feed = PublicFeed(viewer_id, at_ms, listed, only_media=only_media)
    poll = begin_poll(poller, window, at_ms, partial(_list_late, public))
    page = feed_page(feed, window, poll)
    if polled.value:
        enter_by_page(poller, page, at_ms)
    return page


def _load_list(viewer_id: int | None, polled: Question[bool]) -> PublicList:
    """The list, with posts of the viewer that are too new for it. One round trip when warm."""
    trip = RoundTrip()
    public = trip.ask(ask_public_list())
    own: Question[NewestPosts | None] = trip.ask(Question((), lambda _: None))
    if viewer_id is not None:
        profile = trip.ask(profiles.ask_uncopied([viewer_id]))
        own = trip.ask(ask_newest_posts(viewer_id, profile))
    trip.ask(polled)
    trip.run()
    return public.value if own.value is None else _with_own(public.value, own.value)


def _with_own(public: PublicList, own: NewestPosts) -> PublicList:
    """Replies to other accounts are not on the list."""
    first = (max(public.at_ms // 1000, EPOCH) - EPOCH - OWN_S) * SEQUENCES
    newest = PostRange(max(first, 0), PAST_ALL, MOST_OWN, newest_first=True)
    newest_own = own.find(newest, [Kind.POST, Kind.SELF_REPLY], Visibility.PUBLIC) or []
    new = {post_id: public.at_ms for post_id, _ in newest_own if post_id not in public.listed}
    return public._replace(listed={**new, **public.listed}) if new else public


class PublicFeed(Feed):
    """The list, newest first, and what is below it. `viewer_id` None: a guest.

    `now_ms`: mutes end. `only_media`: without posts that have no images.
    """

    def __init__(
        self, viewer_id: int | None, now_ms: int, listed: Sequence[PostId], *, only_media: bool
    ) -> None:
        self._viewer_id, self._now_ms = viewer_id, now_ms
        self._listed, self._only_media = listed, only_media

    def iter_older(self, time_range: TimeRange) -> Iterator[Entry]:
        """Raises: PublicEnded, once the caller asks for what is no longer there."""
        inside = map(Entry.of_post, self._inside(time_range))
        return chain(inside, self._iter_unlisted(time_range, newest_first=True))

    def iter_newer(self, time_range: TimeRange) -> Iterator[Entry]:
        """Raises: PublicEnded, once the caller asks for what is no longer there."""
        inside = map(Entry.of_post, self._inside(time_range)[::-1])
        return chain(self._iter_unlisted(time_range, newest_first=False), inside)

    def show(self, entries: Sequence[Entry]) -> list[bytes]:
        return show_open(self._viewer_id, entries, self._now_ms, self._is_wanted)

    def _is_wanted(self, view: ViewedPosts, post_id: PostId) -> bool:
        return not self._only_media or has_media(view.hydrated.fragments[post_id])

    def _inside(self, time_range: TimeRange) -> list[PostId]:
        return [i for i in self._listed if time_range.above < i < time_range.below]

    def _iter_unlisted(self, time_range: TimeRange, newest_first: bool) -> Iterator[Entry]:
        """Those of the range that are below the list."""
        end = self._listed[-1] if self._listed else LAST
        above, below = time_range.above, min(time_range.below, end)
        if above >= below:
            return
        _refuse_too_old(time_range.below if newest_first else above)
        for ids in iter_public(TimeRange(above, below), newest_first):
            yield from map(Entry.of_post, ids)
        # Its end is the end of the index, not `since_id`.
        if above != FIRST:
            _refuse_too_old(above)


def _refuse_too_old(begin: PostId) -> None:
    """Raises: PublicEnded if a page begins below what the index has. Posts would be missing."""
    if begin != LAST and begin.second < find_reach():
        raise PublicEnded


def _list_late(public: PublicList, cursor: PostId, floor: int | None) -> LatePosts:
    """What came on the list below the cursor after `floor`. None: after the cursor's post."""
    since = _find_floor(public, cursor) if floor is None else floor
    late = [
        LatePost(Entry.of_post(post_id), visible_ms)
        for post_id, visible_ms in public.listed.items()
        if post_id < cursor and visible_ms > since
    ]
    late.sort(key=lambda post: (post.visible_ms, post.event))
    return LatePosts(late, since, public.at_ms)


def _find_floor(public: PublicList, cursor: PostId) -> int:
    """A client that saw the cursor's post saw what had been on the list before."""
    since = public.listed.get(cursor)
    return (cursor.posted_at_s * 1000 - SKEW_MS if since is None else since) - SETTLE_MS
