"""Kept author pages: in process memory, used again for all viewers while nothing has changed.

A page that is not kept yet is made without a round trip, of the author's newest posts and their
finished entities, if process memory has all of them. In both cases the caller must still find out
whether the page holds: by the read window, or by a round trip.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

from infra.api.pages import Page, ReusablePage
from infra.caching.process_memory import most_entries
from infra.caching.short_lived import ShortLived
from infra.clock import now_ms
from posts.api.present import page_of_statuses
from posts.cache.newest import NewestPosts
from posts.queries.complete_posts import CompletePosts
from posts.queries.rows import ListedPair
from posts.types import PostRange, Visibility

# At most about 50 kB each, if all posts are reposts; other posts are in process memory anyway.
MOST_KEPT = most_entries("timelines.author_pages", share=0.075, bytes_each=3_000)
# After that a page goes: it may have texts of posts that are nowhere else, because they changed.
KEPT_MS = 60_000


class KeptBatch(NamedTuple):
    """The first posts of a range, for all viewers. `newest`: the list that they were taken from.

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
    post_range: PostRange,
    kinds: Collection[int],
    most_closed: Visibility,
    newest: NewestPosts,
) -> KeptBatch | None:
    """The first posts of the range, from process memory. Cost: none.

    `newest`: the author's list, perhaps outdated. None: something is not in process memory, or a
    post is not open.
    """
    # An author without closed posts has one batch for all viewers.
    closed = min(most_closed, max(newest.most_closed, Visibility.UNLISTED))
    key = author_id, post_range, tuple(kinds), closed
    kept = _kept.get(key, now_ms())
    if kept is not None and kept.newest is newest and kept.posts.are_usable:
        return kept
    pairs = newest.find(post_range, kinds, most_closed)
    posts = CompletePosts.find(pairs) if pairs else None
    if pairs is None or posts is None:
        return None
    made = KeptBatch(newest, pairs, posts, ReusablePage(*page_of(post_range, posts.statuses)))
    _kept.put(key, made, now_ms())
    return made


def page_of(post_range: PostRange, found: Sequence[bytes]) -> Page[bytes]:
    """The page of a range with these visible posts. `found`: in the order of the range."""
    if not post_range.newest_first:
        return page_of_statuses(found[::-1], has_older=True)
    limit = post_range.most - 1
    return page_of_statuses(found[:limit], has_older=len(found) > limit)
