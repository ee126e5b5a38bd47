"""A page of one account's posts, replies and reposts."""

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from accounts.queries.load import require_account
from infra.api.pages import Page, ReusablePage, Window
from infra.caching.invalidation_log import LOG
from infra.caching.questions import RoundTrip
from infra.sharding.replicas import settled_before
from infra.shared_thread import need_own_thread
from posts.api.present import has_media, is_open
from posts.cache.newest import (
    ListedPair,
    NewestPosts,
    PostRange,
    ask_newest_posts,
    find_newest_in_window,
    peek_newest_posts,
)
from posts.ids import SEQUENCES, moment_after, moment_below, second_of
from posts.queries.rows import ALL_KINDS, PAST_ALL, list_timeline, list_with_images, list_with_tag
from posts.queries.viewer import KnownViewer, PostViewer, find_known_viewer
from posts.queries.viewing import Viewing, view_posts
from posts.types import Visibility
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED
from timelines.queries.cursors import decode_cursor
from timelines.queries.kept_author_pages import KeptBatch, page_of, peek_batch


class AuthorTimelineQuery(NamedTuple):
    """Which kinds of posts of which author are wanted, by which viewer.

    `most_closed`: posts that fewer accounts may see are not asked for. `only_media`:
    only posts with images. `tag`: only public posts with this tag, which is normalized.
    `with_direct`: an author's own list has its direct posts.
    """

    author_id: int
    viewer_id: int | None = None
    kinds: Collection[int] = ALL_KINDS
    most_closed: Visibility = Visibility.UNLISTED
    only_media: bool = False
    tag: str | None = None
    with_direct: bool = True


class _Batch(NamedTuple):
    """Some posts of a timeline, and the Status entities of those that the viewer may see.

    `page`: of these posts, if it was made for an earlier read.
    """

    pairs: Sequence[ListedPair]
    shown: Collection[bytes]
    page: ReusablePage | None = None


def author_page(query: AuthorTimelineQuery, window: Window) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    The author sees all posts here, followers all but direct ones, and others the open ones. Posts
    that mention the viewer are no exception: notifications and conversations have them.
    Raises: InvalidCursor, AccountNotFound. Cost when warm: one Redis round trip, none in the read
    window if all is in process memory, and no SQL for the newest MOST_LISTED posts. Older ones cost
    one index-only query on the author's shard. Posts that the viewer may not see cost the same once
    more per refill, and the first refill one more trip. An empty page costs one more trip.
    """
    span = _span_of(query.author_id, window)
    query = query._replace(most_closed=_guess_most_closed(query))
    first = _read(query, span)
    if first.page is not None and first.shown:
        return first.page
    found = _take(query, span, first)
    if not found:
        require_account(query.author_id)
    return page_of(span, found)


def _span_of(author_id: int, window: Window) -> PostRange:
    """The wanted moments. A page that begins at the top has one post more, as the list may end."""
    lower = window.min_id or window.since_id
    first = moment_after(decode_cursor(lower), author_id) if lower else 0
    last = moment_below(decode_cursor(window.max_id), author_id) if window.max_id else PAST_ALL
    if window.min_id is not None:
        return PostRange(first, last, window.limit, newest_first=False)
    return PostRange(first, last, window.limit + 1, newest_first=True)


def _take(query: AuthorTimelineQuery, span: PostRange, first: _Batch) -> list[bytes]:
    """The first visible posts of the span. `first`: its first batch."""
    found, batch = list(first.shown), first
    while len(batch.pairs) == span.most and len(found) < span.most:
        if batch is first:
            # From here on the list has none that this viewer may never see, however many there are.
            query = query._replace(most_closed=_find_most_closed(query))
        span = span.after(batch.pairs[-1][0].moment)
        batch = _read(query, span)
        found += batch.shown
    return found[: span.most]


def _guess_most_closed(query: AuthorTimelineQuery) -> Visibility:
    """As if the viewer followed the author."""
    if query.viewer_id is None:
        return Visibility.UNLISTED
    sees_direct = query.viewer_id == query.author_id and query.with_direct
    return Visibility.DIRECT if sees_direct else Visibility.PRIVATE


def _find_most_closed(query: AuthorTimelineQuery) -> Visibility:
    if query.viewer_id in (None, query.author_id):
        return query.most_closed
    found = load_relationships(query.viewer_id, [query.author_id])
    return Visibility.PRIVATE if found[query.author_id].is_followed else Visibility.UNLISTED


def _read(query: AuthorTimelineQuery, span: PostRange) -> _Batch:
    """The first posts of the span, visible or not."""
    if query.tag is not None or query.only_media:
        return _read_chosen(query, span)
    known = peek_newest_posts(query.author_id)
    if known is None:
        need_own_thread()  # an author's first page mostly reads a shard
        return _load(query, span, _load_newest(query.author_id) if span.upper == PAST_ALL else None)
    # First: the log that opened the window may have ended copies of posts.
    is_in_window = find_newest_in_window(query.author_id) is known
    kept = peek_batch(query.author_id, span, query.kinds, query.most_closed, known)
    if kept is not None:
        return _read_kept(query, span, kept, is_in_window)
    guess = known.find(span, query.kinds, query.most_closed)
    if guess is None:
        return _load(query, span, None)
    return _read_guessed(query, span, known, guess)


def _read_chosen(query: AuthorTimelineQuery, span: PostRange) -> _Batch:
    """No cached list says which posts have images or tags: one query by index on the shard."""
    if query.tag is not None:
        pairs = list_with_tag(query.author_id, *span, query.kinds, query.tag)
    else:
        pairs = list_with_images(query.author_id, *span, query.kinds, query.most_closed)
    if not pairs:
        return _Batch(pairs, ())
    shown = _show(query, view_posts(dict(pairs), query.viewer_id))
    return _Batch(pairs, [one for one in shown if has_media(one) or not query.only_media])


def _read_kept(
    query: AuthorTimelineQuery, span: PostRange, kept: KeptBatch, is_in_window: bool
) -> _Batch:
    """The same posts for another read, if the read window or the round trip says that nothing has
    changed."""
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
        return _load(query, span, newest.value, is_current=viewer.state.wrote_lately)
    return _show_kept(kept, viewer)


def _show_kept(kept: KeptBatch, viewer: KnownViewer) -> _Batch:
    hidden = viewer.find_hidden(kept.posts.accounts)
    flags = viewer.load_flags(kept.posts.texts)
    shown = kept.posts.list_visible(hidden, flags)
    if filters := viewer.state.filters:
        shown = [filters.apply(status) for status in shown]
    return _Batch(kept.pairs, shown, kept.page if shown is kept.posts.statuses else None)


def _read_guessed(
    query: AuthorTimelineQuery, span: PostRange, known: NewestPosts, guess: Sequence[ListedPair]
) -> _Batch:
    """Asks for the posts of the guess in the round trip that confirms it."""
    trip = RoundTrip()
    log = trip.ask(LOG.ask())
    newest = ask_newest_posts(trip, query.author_id)
    viewing = Viewing(trip, dict(guess), query.viewer_id, log)
    trip.run()
    if newest.value is not known:
        return _load(query, span, newest.value)
    return _Batch(guess, _show(query, viewing))


def _load_newest(author_id: int) -> NewestPosts:
    trip = RoundTrip()
    newest = ask_newest_posts(trip, author_id)
    trip.run()
    return newest.value


def _load(
    query: AuthorTimelineQuery,
    span: PostRange,
    newest: NewestPosts | None,
    is_current: bool = False,
) -> _Batch:
    """`newest`: a current list, which is asked first. `is_current`: as in `Viewing`."""
    pairs = newest.find(span, query.kinds, query.most_closed) if newest is not None else None
    if pairs is None:
        listed = query.kinds, _is_settled(span.upper), query.most_closed
        pairs = list_timeline(query.author_id, *span, *listed)
    if not pairs:
        return _Batch(pairs, ())
    return _Batch(pairs, _show(query, view_posts(dict(pairs), query.viewer_id, is_current)))


def _show(query: AuthorTimelineQuery, viewing: Viewing) -> Collection[bytes]:
    """Status entities of the posts that the viewer may see here, after the round trip."""
    found = viewing.list_visible()
    viewer, author_id = viewing.viewer, query.author_id
    if viewer.account_id in (None, author_id):
        return found.values()
    if viewer.relationships.get(author_id, UNRELATED).is_followed:
        return found.values()
    return [status for status in found.values() if is_open(status)]


def _is_settled(moment: int) -> bool:
    """Whether a replica has all posts before this moment. Deleted ones are dropped later."""
    return moment < second_of(settled_before(time.time())) * SEQUENCES
