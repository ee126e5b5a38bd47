"""A page of a tag timeline: public posts with certain tags, newest first."""

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import islice
from typing import NamedTuple

from infra.api.pages import Page, Window
from infra.clock import now_ms
from infra.own_acts import NO_ACTS, TAGGED, acts_of_request
from posts.fragments.present import find_tags, has_media, is_edited, page_of_statuses
from posts.ids import PostId
from posts.reading.viewing import ViewedPosts, view_posts
from timelines.polling.begin import begin_poll
from timelines.polling.ordinary import enter_if_polled
from timelines.polling.page import poll_page
from timelines.polling.records import Poller
from timelines.queries.cursors import range_of
from timelines.rules import is_visible_in_public
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
    if poll is not None:
        return poll_page(PolledTag(query), poll, window)
    time_range = range_of(window)
    if window.min_id is not None:
        newer = _take(query, time_range, window.limit, newest_first=False)
        return page_of_statuses(newer[::-1], has_older=True)
    entries = _take(query, time_range, window.limit + 1, newest_first=True)
    page = page_of_statuses(entries[: window.limit], has_older=len(entries) > window.limit)
    if window.is_newest:
        enter_if_polled(poller, page, at_ms)
    return page


class PolledTag(NamedTuple):
    """PolledTimeline of a tag query."""

    query: TagQuery

    def take_newer(self, time_range: TimeRange, count: int) -> list[bytes]:
        return _take(self.query, time_range, count, newest_first=False)

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        return _take(self.query, time_range, count, newest_first=True)

    def take(self, entries: Iterable[Entry], count: int) -> list[bytes]:
        shown = _show(self.query, [entry.event for entry in entries])
        return list(islice(shown, count))


def _take(query: TagQuery, time_range: TimeRange, count: int, newest_first: bool) -> list[bytes]:
    """The first wanted posts of the range. The index is read again for a viewer with own posts that
    it may lack: the first look at posts says whether there are any."""
    shown = _take_with(frozenset(), query, time_range, count, newest_first)
    own = _own_ids(query.viewer_id)
    return _take_with(own, query, time_range, count, newest_first) if own else shown


def _take_with(
    own: Set[PostId], query: TagQuery, time_range: TimeRange, count: int, newest_first: bool
) -> list[bytes]:
    shown: list[bytes] = []
    for _ in range(MOST_BATCHES):
        ids = _read_ids(own, query, time_range, count, newest_first)
        shown += _show(query, ids)
        if len(ids) < count or len(shown) >= count:
            break
        time_range = time_range.after(ids[-1], newest_first)
    return shown[:count]


def _read_ids(
    own: Set[PostId], query: TagQuery, time_range: TimeRange, count: int, newest_first: bool
) -> list[PostId]:
    """The first posts of the range with any of the tags, and those of `own` in it."""
    read = list_tagged([*map(tag_id_of, query.any_of)], time_range, count, newest_first)
    inside = [i for i in own if time_range.above < i < time_range.below]
    return sorted({*read, *inside}, reverse=newest_first)[:count]


def _own_ids(viewer_id: int | None) -> Set[PostId]:
    """The viewer's own posts with tags that the index may lack."""
    acts = acts_of_request() if viewer_id is not None else NO_ACTS
    return {PostId.at(act.owner_id, act.subject) for act in acts if act.kind == TAGGED}


def _show(query: TagQuery, ids: Sequence[PostId]) -> Iterator[bytes]:
    """Those of the posts that the viewer may see, did not mute, and asked for."""
    if not ids:
        return
    at_ms, view = now_ms(), view_posts({i: i for i in ids}, query.viewer_id)
    for post_id in ids:
        if is_visible_in_public(view, post_id, at_ms) and _is_asked(query, view, post_id):
            yield view.present(post_id, post_id)


def _is_asked(query: TagQuery, view: ViewedPosts, post_id: PostId) -> bool:
    fragment = view.hydrated.fragments[post_id]
    if query.only_media and not has_media(fragment):
        return False
    # The index keeps the tags that an edit took away until the drain has removed their rows. A post
    # that the index lacks may have other tags.
    is_indexed = not is_edited(fragment) and post_id not in _own_ids(query.viewer_id)
    if not query.all_of and not query.none_of and is_indexed:
        return True
    tags = find_tags(fragment)
    is_wanted = tags.issuperset(query.all_of) and tags.isdisjoint(query.none_of)
    return is_wanted and not tags.isdisjoint(query.any_of)
