"""A page of one account's posts, replies and reposts."""

import time
from collections.abc import Collection
from typing import NamedTuple

from infra.api.pages import Page, Window
from infra.sharding.replicas import settled_before
from posts.api.present import page_of_statuses
from posts.ids import SEQUENCES, moment_after, moment_below, second_of
from posts.queries.rows import ALL_KINDS, PAST_ALL, list_timeline
from posts.queries.statuses import load_visible
from timelines.queries.home import decode_cursor


class AuthorTimelineQuery(NamedTuple):
    """Which kinds of posts of which author are wanted, by which viewer."""

    author_id: int
    viewer_id: int | None = None
    kinds: Collection[int] = ALL_KINDS


def author_page(query: AuthorTimelineQuery, window: Window) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    Cost when warm: one index-only query on the author's shard, one Redis round trip. Posts that the
    viewer may not see cost the same once more per refill.
    """
    author_id, lower = query.author_id, window.min_id or window.since_id
    first = moment_after(decode_cursor(lower), author_id) if lower else 0
    last = moment_below(decode_cursor(window.max_id), author_id) if window.max_id else PAST_ALL
    if window.min_id is not None:
        found = _take(query, first, last, window.limit, newest_first=False)
        return page_of_statuses(found[::-1], has_older=True)
    found = _take(query, first, last, window.limit + 1, newest_first=True)
    return page_of_statuses(found[: window.limit], has_older=len(found) > window.limit)


def _take(
    query: AuthorTimelineQuery, first: int, last: int, count: int, newest_first: bool
) -> list[bytes]:
    """The first `count` visible posts of the moments from `first` to below `last`."""
    found: list[bytes] = []
    while True:
        pairs = list_timeline(
            query.author_id, first, last, count, newest_first, query.kinds, _is_settled(last)
        )
        found += load_visible(dict(pairs), query.viewer_id).values()
        if len(pairs) < count or len(found) >= count:
            return found[:count]
        edge = pairs[-1][0].moment
        first, last = (first, edge) if newest_first else (edge + 1, last)


def _is_settled(moment: int) -> bool:
    """Whether a replica has all posts before this moment. Deleted ones are dropped later."""
    return moment < second_of(settled_before(time.time())) * SEQUENCES
