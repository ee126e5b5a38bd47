"""A page of a tag timeline: public posts with certain tags, newest first."""

from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from infra.api.pages import Page, Window
from infra.caller_acts import NO_ACTS, TAGGED, acts_of_request
from infra.clock import now_ms
from posts.fragments.read import find_tags, has_media, is_edited
from posts.ids import PostId
from posts.reading.viewing import ViewedPosts
from timelines.feeds.feed import Feed
from timelines.feeds.open import show_open
from timelines.feeds.page import feed_page
from timelines.polling.begin import begin_poll
from timelines.polling.ordinary import enter_if_polled
from timelines.polling.records import Poller
from timelines.tags.queries.late_tagged import load_late_tagged
from timelines.tags.queries.tagged_posts import list_tagged
from timelines.tags.types import TagQuery, tag_id_of
from timelines.types import Entry, TimeRange

# A page reads at most so many batches: other tags may leave out nearly all posts.
MOST_BATCHES = 10


def tag_page(query: TagQuery, window: Window, client: str | None = None) -> Page[bytes]:
    """One page of Status entities, newest first. It may be short before the list ends only if the
    viewer may see few of MOST_BATCHES times the limit.

    `client`: who polls, if the window has a lower cursor. The page then has late posts too.
    Raises: InvalidCursor. Cost: one index-only query on each shard that has a tag of `any_of`, and
    one round trip to Redis; the same again for each refill. A poll costs one more query on each of
    these shards, and two more round trips. The newest page costs one more round trip; two if the
    client has polled.
    """
    poller = Poller(query.viewer_id or client or "", query.digest, client)
    at_ms = now_ms()
    poll = begin_poll(poller, window, at_ms, partial(load_late_tagged, query.any_of))
    page = feed_page(TagFeed(query, at_ms, window.limit + 1), window, poll)
    if window.is_newest:
        enter_if_polled(poller, page, at_ms)
    return page


class TagFeed(Feed):
    """The posts of a tag query. `batch`: how many a query of the index reads."""

    def __init__(self, query: TagQuery, now_ms: int, batch: int) -> None:
        self._query, self._now_ms, self._batch = query, now_ms, batch
        self._own: Set[PostId] = frozenset()

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        return self._with_own(super().take_older, time_range, count)

    def take_newer(self, time_range: TimeRange, count: int) -> list[bytes]:
        return self._with_own(super().take_newer, time_range, count)

    def _with_own(
        self, take: Callable[[TimeRange, int], list[bytes]], time_range: TimeRange, count: int
    ) -> list[bytes]:
        """The index is read again for a viewer with own posts that it may lack: the first look at
        posts says whether there are any."""
        shown = take(time_range, count)
        self._own = _own_ids(self._query.viewer_id)
        return take(time_range, count) if self._own else shown

    def iter_older(self, time_range: TimeRange) -> Iterator[Entry]:
        return self._iter(time_range, newest_first=True)

    def iter_newer(self, time_range: TimeRange) -> Iterator[Entry]:
        return self._iter(time_range, newest_first=False)

    def show(self, entries: Sequence[Entry]) -> list[bytes]:
        """Those that the viewer did not mute, and asked for."""
        return show_open(self._query.viewer_id, entries, self._now_ms, self._is_asked)

    def _iter(self, time_range: TimeRange, newest_first: bool) -> Iterator[Entry]:
        for _ in range(MOST_BATCHES):
            ids = self._read(time_range, newest_first)
            yield from map(Entry.of_post, ids)
            if len(ids) < self._batch:
                return
            time_range = time_range.after(ids[-1], newest_first)

    def _read(self, time_range: TimeRange, newest_first: bool) -> list[PostId]:
        """The first posts of the range with any of the tags, and those of `_own` in it."""
        tags = [*map(tag_id_of, self._query.any_of)]
        read = list_tagged(tags, time_range, self._batch, newest_first)
        inside = [i for i in self._own if time_range.above < i < time_range.below]
        return sorted({*read, *inside}, reverse=newest_first)[: self._batch]

    def _is_asked(self, view: ViewedPosts, post_id: PostId) -> bool:
        query, fragment = self._query, view.hydrated.fragments[post_id]
        if query.only_media and not has_media(fragment):
            return False
        # The index keeps the tags that an edit took away until the drain has removed their rows. A
        # post that the index lacks may have other tags.
        is_indexed = not is_edited(fragment) and post_id not in _own_ids(query.viewer_id)
        if not query.all_of and not query.none_of and is_indexed:
            return True
        tags = find_tags(fragment)
        is_wanted = tags.issuperset(query.all_of) and tags.isdisjoint(query.none_of)
        return is_wanted and not tags.isdisjoint(query.any_of)


def _own_ids(viewer_id: int | None) -> Set[PostId]:
    """The viewer's own posts with tags that the index may lack."""
    acts = acts_of_request() if viewer_id is not None else NO_ACTS
    return {PostId.at(act.owner_id, act.subject) for act in acts if act.kind == TAGGED}
