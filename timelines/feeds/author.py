"""A page of one account's posts, replies and reposts."""

from collections.abc import Collection, Sequence
from functools import partial

from infra.api.pages import Page, Window
from infra.caching.questions import Question, answer, answer_of, ask_along, ask_both
from infra.caching.remembered import Memory
from infra.clock import now_ms
from infra.evidence import collecting
from posts.ids import moment_after, moment_below
from posts.queries.rows import PAST_ALL
from posts.reading.viewing import PostViewer, ask_viewer
from posts.types import PostRange, Visibility
from relations.types import UNRELATED
from timelines.cursors import decode_cursor
from timelines.feeds.author_batches import (
    AuthorBatch,
    AuthorTimelineQuery,
    find_page,
    page_of,
    read_batch,
    show_batch,
)

_batches: Memory[AuthorBatch] = Memory("timelines.author_pages", lambda batch: batch.size)
BatchKey = tuple[AuthorTimelineQuery, PostRange]
# By viewer and the serial of a batch: the viewer gets the batch's own page.
_plain: Memory[bool] = Memory("timelines.plain_viewers", lambda _: 0)


def author_page(query: AuthorTimelineQuery, window: Window) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    The author sees all posts here, followers all but direct ones, and others the open ones. Posts
    that mention the viewer are no exception: notifications and conversations have them.
    Raises: InvalidCursor, AccountNotFound. Cost when warm: two round trips, one if this process
    remembers the posts for any viewer, and no SQL for the newest MOST_LISTED posts. Older ones cost
    one index-only query on the author's shard. Posts that the viewer may not see cost the same once
    more per refill, and the first refill one more trip.
    """
    post_range = _range_of(query.author_id, window)
    query = query._replace(most_closed=_guess_most_closed(query), kinds=tuple(query.kinds))
    key, at_ms = (query._replace(viewer_id=None), post_range), now_ms()
    known, page = _find_plain(key, query.viewer_id, at_ms)
    if page is not None:
        return page
    with collecting(at_ms) as evidence:
        batch, viewer = _read(key, known, query, at_ms)
    page = find_page(batch, viewer)
    if page is None:
        return page_of(post_range, _take(query, post_range, batch, viewer))
    if batch is known:
        evidence.leave_out_confirmations()
        _plain.keep((query.viewer_id, batch.serial), at_ms, evidence, value=True)
    return page


def _find_plain(
    key: BatchKey, viewer_id: int | None, at_ms: int
) -> tuple[AuthorBatch | None, Page[bytes] | None]:
    """The batch that this process remembers, if any, and its page if the viewer gets this one.

    Cost: one round trip if the process remembers that it was so for this viewer; else none.
    """
    batch = _batches.peek(key, at_ms)
    plain = viewer_id, batch and batch.serial
    if batch is None or not _plain.peek(plain, at_ms):
        return batch, None
    asked = ask_both(_batches.ask(key, at_ms), _plain.ask(plain, at_ms))
    confirmed, is_plain = answer(asked)
    # Not the page of another batch that another thread has stored since.
    return confirmed, batch.page if confirmed is batch and is_plain else None


def _read(
    key: BatchKey, known: AuthorBatch | None, query: AuthorTimelineQuery, at_ms: int
) -> tuple[AuthorBatch, PostViewer]:
    """The first batch, and its viewer. One round trip if this process remembers the batch, else
    two: the viewer is asked with the posts, but the batch is the same for all viewers."""
    if known is not None:
        both = ask_both(_batches.ask(key, at_ms), ask_viewer(query.viewer_id, known.authors))
        batch, viewer = answer(both)
        # Not another one that another thread has stored since: it may have more authors.
        if batch is known:
            return known, viewer
    asked: list[Question[PostViewer]] = []

    def ask_viewer_too(authors: Collection[int]) -> None:
        asked.append(ask_along(ask_viewer(query.viewer_id, authors)))

    batch = _batches.make(key, at_ms, partial(read_batch, query, key[1], ask_viewer_too))
    return batch, answer_of(asked[0])


def _range_of(author_id: int, window: Window) -> PostRange:
    """The wanted posts. One more than the page if it begins at the top: the list may go on."""
    lower = window.min_id or window.since_id
    first = moment_after(decode_cursor(lower), author_id) if lower else 0
    last = moment_below(decode_cursor(window.max_id), author_id) if window.max_id else PAST_ALL
    if window.min_id is not None:
        return PostRange(first, last, window.limit, newest_first=False)
    return PostRange(first, last, window.limit + 1, newest_first=True)


def _take(
    query: AuthorTimelineQuery, post_range: PostRange, first: AuthorBatch, viewer: PostViewer
) -> Sequence[bytes]:
    """The first visible posts of the range. `first`: its first batch."""
    statuses, batch = list(show_batch(query, first, viewer)), first
    while len(batch.pairs) == post_range.most and len(statuses) < post_range.most:
        if batch is first:
            # From here on the list has no posts that are closed to this viewer, however many exist.
            query = query._replace(most_closed=_find_most_closed(query, viewer))
        post_range = post_range.after(batch.pairs[-1][0].moment)
        batch = read_batch(query, post_range)
        viewer = answer(ask_viewer(query.viewer_id, batch.authors))
        statuses += show_batch(query, batch, viewer)
    return statuses[: post_range.most]


def _guess_most_closed(query: AuthorTimelineQuery) -> Visibility:
    """As if the viewer followed the author: whether that is so is not known yet."""
    if query.viewer_id is None:
        return Visibility.UNLISTED
    sees_direct = query.viewer_id == query.author_id and query.with_direct
    return Visibility.DIRECT if sees_direct else Visibility.PRIVATE


def _find_most_closed(query: AuthorTimelineQuery, viewer: PostViewer) -> Visibility:
    """As it is."""
    if query.viewer_id in (None, query.author_id):
        return query.most_closed
    is_followed = viewer.relationships.get(query.author_id, UNRELATED).is_followed
    return Visibility.PRIVATE if is_followed else Visibility.UNLISTED
