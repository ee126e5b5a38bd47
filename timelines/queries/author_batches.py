"""The batches of an author's page: some posts of a range, as one viewer sees them.

A batch comes from the first of these sources that has it:

    a kept batch (kept_author_pages.py)    the read window or a round trip says that it still holds
    the list of the author's newest posts  its round trip also reads what the posts lack
    the shard                              for older posts, and for posts with images or a tag
"""

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from infra.api.pages import ReusablePage
from infra.caching.invalidation_log import LOG
from infra.caching.questions import RoundTrip
from infra.sharding.replicas import settled_before
from infra.shared_thread import need_own_thread
from posts.api.present import has_media, is_open
from posts.cache.newest import (
    NewestPosts,
    ask_newest_posts,
    find_newest_in_window,
    peek_newest_posts,
)
from posts.ids import SEQUENCES, second_of
from posts.queries.rows import (
    ALL_KINDS,
    PAST_ALL,
    ListedPair,
    list_timeline,
    list_with_images,
    list_with_tag,
)
from posts.queries.viewer import KnownViewer, PostViewer, find_known_viewer
from posts.queries.viewing import Viewing, view_posts
from posts.types import PostRange, Visibility
from relations.types import UNRELATED
from timelines.queries.kept_author_pages import KeptBatch, peek_batch


class AuthorTimelineQuery(NamedTuple):
    """Which kinds of posts of which author are wanted, by which viewer.

    `most_closed`: posts that fewer accounts may see are not asked for. `only_media`: only posts
    with images. `tag`: only public posts with this tag, which is normalized. `with_direct`: an
    author's own list has its direct posts.
    """

    author_id: int
    viewer_id: int | None = None
    kinds: Collection[int] = ALL_KINDS
    most_closed: Visibility = Visibility.UNLISTED
    only_media: bool = False
    tag: str | None = None
    with_direct: bool = True


class AuthorBatch(NamedTuple):
    """Some posts of a timeline, and the Status entities of those that the viewer may see.

    `page`: the page of exactly these entities, if there is one from an earlier read.
    """

    pairs: Sequence[ListedPair]
    shown: Collection[bytes]
    page: ReusablePage | None = None


def read_batch(query: AuthorTimelineQuery, post_range: PostRange) -> AuthorBatch:
    """The first posts of the range, visible or not."""
    if query.tag is not None or query.only_media:
        return _read_selected(query, post_range)
    newest = peek_newest_posts(query.author_id)
    if newest is None:
        return _read_unknown(query, post_range)
    # First of all: the log that opened the window may have ended copies of posts.
    is_in_window = find_newest_in_window(query.author_id) is newest
    kept = peek_batch(query.author_id, post_range, query.kinds, query.most_closed, newest)
    if kept is not None:
        return _read_kept(query, post_range, kept, is_in_window)
    pairs = newest.find(post_range, query.kinds, query.most_closed)
    if pairs is None:
        return _load(query, post_range, None)
    return _read_listed(query, post_range, newest, pairs)


def _read_selected(query: AuthorTimelineQuery, post_range: PostRange) -> AuthorBatch:
    """No cached list says which posts have images or tags: one query by index on the shard."""
    if query.tag is not None:
        pairs = list_with_tag(query.author_id, post_range, query.kinds, query.tag)
    else:
        pairs = list_with_images(query.author_id, post_range, query.kinds, query.most_closed)
    if not pairs:
        return AuthorBatch(pairs, ())
    shown = _show(query, view_posts(dict(pairs), query.viewer_id))
    return AuthorBatch(pairs, [one for one in shown if has_media(one) or not query.only_media])


def _read_unknown(query: AuthorTimelineQuery, post_range: PostRange) -> AuthorBatch:
    """This process does not know the author's newest posts yet, so it mostly reads a shard."""
    need_own_thread()
    is_newest = post_range.upper == PAST_ALL
    return _load(query, post_range, _load_newest(query.author_id) if is_newest else None)


def _load_newest(author_id: int) -> NewestPosts:
    trip = RoundTrip()
    newest = ask_newest_posts(trip, author_id)
    trip.run()
    return newest.value


def _read_kept(
    query: AuthorTimelineQuery, post_range: PostRange, kept: KeptBatch, is_in_window: bool
) -> AuthorBatch:
    """The kept batch, if the read window or the round trip says that nothing has changed."""
    if is_in_window:
        known = find_known_viewer(query.viewer_id, kept.posts.accounts)
        if known is not None:
            return _show_kept(kept, known)
    trip = RoundTrip()
    log = trip.ask(LOG.ask())
    newest = ask_newest_posts(trip, query.author_id)
    asked = PostViewer(trip, query.viewer_id, kept.posts.accounts)
    trip.run()
    viewer, is_same = asked.value, newest.value is kept.newest and log.value is not None
    if not is_same or viewer.state.wrote_lately or not kept.posts.are_usable:
        return _load(query, post_range, newest.value, is_current=viewer.state.wrote_lately)
    return _show_kept(kept, viewer)


def _show_kept(kept: KeptBatch, viewer: KnownViewer) -> AuthorBatch:
    """The kept batch for this viewer: without hidden authors, with flags and filters."""
    hidden = viewer.find_hidden(kept.posts.accounts)
    flags = viewer.load_flags(kept.posts.texts)
    shown = kept.posts.list_visible(hidden, flags)
    if filters := viewer.state.filters:
        shown = [filters.apply(status) for status in shown]
    return AuthorBatch(kept.pairs, shown, kept.page if shown is kept.posts.statuses else None)


def _read_listed(
    query: AuthorTimelineQuery,
    post_range: PostRange,
    newest: NewestPosts,
    pairs: Sequence[ListedPair],
) -> AuthorBatch:
    """Asks for these posts in the round trip that says whether the list still holds."""
    trip = RoundTrip()
    log = trip.ask(LOG.ask())
    now = ask_newest_posts(trip, query.author_id)
    viewing = Viewing(trip, dict(pairs), query.viewer_id, log)
    trip.run()
    if now.value is not newest:
        return _load(query, post_range, now.value)
    return AuthorBatch(pairs, _show(query, viewing))


def _load(
    query: AuthorTimelineQuery,
    post_range: PostRange,
    newest: NewestPosts | None,
    is_current: bool = False,
) -> AuthorBatch:
    """`newest`: a list that holds now, and is asked first. `is_current`: as in `Viewing`."""
    pairs = newest.find(post_range, query.kinds, query.most_closed) if newest is not None else None
    if pairs is None:
        may_trail = _is_settled(post_range.upper)
        pairs = list_timeline(
            query.author_id, post_range, query.kinds, may_trail, query.most_closed
        )
    if not pairs:
        return AuthorBatch(pairs, ())
    return AuthorBatch(pairs, _show(query, view_posts(dict(pairs), query.viewer_id, is_current)))


def _show(query: AuthorTimelineQuery, viewing: Viewing) -> Collection[bytes]:
    """Status entities of the posts that the viewer may see here, after the round trip."""
    found = viewing.list_visible()
    viewer, author_id = viewing.viewer, query.author_id
    if viewer.account_id in (None, author_id):
        return found.values()
    if viewer.relationships.get(author_id, UNRELATED).is_followed:
        return found.values()
    # Closed posts that mention the viewer are visible, but not here (author.py).
    return [status for status in found.values() if is_open(status)]


def _is_settled(moment: int) -> bool:
    """Whether a replica has all posts before this moment. Deleted ones are dropped later."""
    return moment < second_of(settled_before(time.time())) * SEQUENCES
