"""Author pages in process memory, used again by all viewers while nothing has changed.

A page that is not kept is made of the author's newest posts and their finished entities, if all of
them are in process memory. Either way the request must still confirm it: by the read window, or by
a round trip.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

from infra.api.pages import Page, ReusablePage
from infra.caching.process_memory import most_entries
from infra.caching.short_lived import ShortLived
from infra.clock import now_ms
from posts.api.present import page_of_statuses
from posts.cache.newest import ListedPair, NewestPosts, PostRange
from posts.queries.complete_posts import CompletePosts
from posts.types import Visibility

# At most about 50 kB each, if all posts are reposts; other posts are in process memory anyway.
MOST_KEPT = most_entries("timelines.author_pages", share=0.075, bytes_each=3_000)
# The texts of posts that have changed since may be nowhere else.
KEPT_MS = 60_000


class KeptBatch(NamedTuple):
    """The first posts of a span, for all viewers. `newest`: the list that they were taken from.

    `page`: for viewers who see all posts, without flags and filters.
    """

    newest: NewestPosts
    pairs: Sequence[ListedPair]
    posts: CompletePosts
    page: ReusablePage


# By author, range, kinds and visibility.
_kept: ShortLived[Hashable, KeptBatch] = ShortLived(MOST_KEPT, KEPT_MS)


def peek_batch(
    author_id: int,
    span: PostRange,
    kinds: Collection[int],
    most_closed: Visibility,
    newest: NewestPosts,
) -> KeptBatch | None:
    """The first posts of the span, from process memory. `newest`: the author's list, perhaps
    outdated.

    None: something is missing there, or a post is not open. Cost: none.
    """
    # The same for all viewers of an author without closed posts.
    closed = min(most_closed, max(newest.most_closed, Visibility.UNLISTED))
    key = author_id, span, tuple(kinds), closed
    kept = _kept.get(key, now_ms())
    if kept is not None and kept.newest is newest and kept.posts.are_usable:
        return kept
    pairs = newest.find(span, kinds, most_closed)
    posts = CompletePosts.find(pairs) if pairs else None
    if pairs is None or posts is None:
        return None
    made = KeptBatch(newest, pairs, posts, ReusablePage(*page_of(span, posts.statuses)))
    _kept.put(key, made, now_ms())
    return made


def page_of(span: PostRange, found: Sequence[bytes]) -> Page[bytes]:
    """The page with the first visible posts of its span."""
    if not span.newest_first:
        return page_of_statuses(found[::-1], has_older=True)
    limit = span.most - 1
    return page_of_statuses(found[:limit], has_older=len(found) > limit)
