"""A page of one account's own posts."""

from infra.api.pages import Page, Window
from posts.ids import PostId, moment_after, moment_below
from posts.queries.hydrate import load_status_json
from posts.queries.rows import PAST_ALL, list_moments
from timelines.queries.home import decode_cursor


def author_page(author_id: int, window: Window) -> Page[bytes]:
    """One page of Status entities, newest first.

    Cost: one index-only query on the author's shard, one Redis round trip when warm.
    """
    newest_first = window.min_id is None
    lower = window.min_id or window.since_id
    first = moment_after(decode_cursor(lower), author_id) if lower else 0
    last = moment_below(decode_cursor(window.max_id), author_id) if window.max_id else PAST_ALL
    moments = list_moments(author_id, first, last, window.limit + 1, newest_first)
    kept = [PostId.at(author_id, moment) for moment in moments[: window.limit]]
    ids = kept if newest_first else kept[::-1]
    bodies = load_status_json(ids)
    has_older = len(moments) > window.limit or not newest_first
    older = ids[-1].public if ids and has_older else None
    return Page([bodies[i] for i in ids if i in bodies], older, ids[0].public if ids else None)
