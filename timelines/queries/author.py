"""A page of one account's posts, replies and reposts."""

from accounts.queries.load import require_account
from infra.api.pages import Page, Window
from posts.ids import moment_after, moment_below
from posts.queries.rows import PAST_ALL
from posts.types import PostRange, Visibility
from relations.queries.relationships import load_relationships
from timelines.queries.author_batches import AuthorBatch, AuthorTimelineQuery, read_batch
from timelines.queries.cursors import decode_cursor
from timelines.queries.kept_author_pages import page_of


def author_page(query: AuthorTimelineQuery, window: Window) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    The author sees all posts here, followers all but direct ones, and others the open ones. Posts
    that mention the viewer are no exception: notifications and conversations have them.
    Raises: InvalidCursor, AccountNotFound. Cost when warm: one Redis round trip, none in the read
    window if all is in process memory, and no SQL for the newest MOST_LISTED posts. Older ones cost
    one index-only query on the author's shard. Posts that the viewer may not see cost the same once
    more per refill, and the first refill one more trip. An empty page costs one more trip.
    """
    post_range = _range_of(query.author_id, window)
    query = query._replace(most_closed=_guess_most_closed(query))
    first = read_batch(query, post_range)
    if first.page is not None and first.shown:
        return first.page
    found = _take(query, post_range, first)
    if not found:
        require_account(query.author_id)
    return page_of(post_range, found)


def _range_of(author_id: int, window: Window) -> PostRange:
    """The wanted posts. One more than the page if it begins at the top: the list may go on."""
    lower = window.min_id or window.since_id
    first = moment_after(decode_cursor(lower), author_id) if lower else 0
    last = moment_below(decode_cursor(window.max_id), author_id) if window.max_id else PAST_ALL
    if window.min_id is not None:
        return PostRange(first, last, window.limit, newest_first=False)
    return PostRange(first, last, window.limit + 1, newest_first=True)


def _take(query: AuthorTimelineQuery, post_range: PostRange, first: AuthorBatch) -> list[bytes]:
    """The first visible posts of the range. `first`: its first batch."""
    found, batch = list(first.shown), first
    while len(batch.pairs) == post_range.most and len(found) < post_range.most:
        if batch is first:
            # From here on the list has no posts that are closed to this viewer, however many exist.
            query = query._replace(most_closed=_find_most_closed(query))
        post_range = post_range.after(batch.pairs[-1][0].moment)
        batch = read_batch(query, post_range)
        found += batch.shown
    return found[: post_range.most]


def _guess_most_closed(query: AuthorTimelineQuery) -> Visibility:
    """As if the viewer followed the author: whether that is so is not known yet."""
    if query.viewer_id is None:
        return Visibility.UNLISTED
    sees_direct = query.viewer_id == query.author_id and query.with_direct
    return Visibility.DIRECT if sees_direct else Visibility.PRIVATE


def _find_most_closed(query: AuthorTimelineQuery) -> Visibility:
    """As it is: costs one round trip."""
    if query.viewer_id in (None, query.author_id):
        return query.most_closed
    found = load_relationships(query.viewer_id, [query.author_id])
    return Visibility.PRIVATE if found[query.author_id].is_followed else Visibility.UNLISTED
