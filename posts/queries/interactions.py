"""What accounts are answered who have just done something with a post."""

from counters.kinds import CounterKind
from infra.changes.errors import UNREACHABLE
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.api.present import FAVOURITED, REPOSTED, encode_post, present_counts
from posts.cache.viewer_state import read_viewer_flags
from posts.cache.weeks import Fragments
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.hydrate import hydrate
from posts.queries.rows import find_post_row
from posts.types import Kind

# Counts, and those responses of the viewer that are part of them: one statement, one moment.
COUNTED = """
SELECT kind, value FROM counters_counter
WHERE owner_id = %(author)s AND subject = %(moment)s AND kind IN (11, 12, 13)
UNION ALL
SELECT -kind, is_on::int FROM posts_response
WHERE author_id = %(author)s AND moment = %(moment)s AND kind IN (2, 3)
    AND responder_id = %(viewer)s AND reply_moment = 0
"""


def get_any_original(post_id: PostId) -> PostId:
    """The post, or the one it reposts, whatever has become of either: to undo what one did.

    Raises: PostNotFound when there never was such a post. Cost: one query by key.
    """
    row = find_post_row(post_id)
    if row is None:
        raise PostNotFound
    return row.target.post_id if row.target and row.kind == Kind.REPOST else post_id


def get_interaction_json(viewer_id: int, event: PostId, original: PostId) -> bytes:
    """The Status of a post, or of one's repost of it, with the viewer's act and its count in it,
    before the drain has told the post's shard. What was deleted is shown without its words.

    Raises: PostNotFound. Cost: two queries by key, beside what hydrating costs.
    """
    flags = read_viewer_flags(viewer_id, [original]).get(original, 0)
    hydrated = hydrate([original], reposts=[event] if event != original else [])
    hydrated = hydrated._replace(
        fragments=hydrated.fragments | _read_missing({event, original} - set(hydrated.fragments)),
        counts={**hydrated.counts, **_count_exactly(viewer_id, original, flags)},
    )
    if not hydrated.shows(event, original):
        raise PostNotFound
    return hydrated.present(event, original, flags)


def _read_missing(ids: set[PostId]) -> Fragments:
    rows = {post_id: find_post_row(post_id) for post_id in ids}
    return {post_id: encode_post(row) for post_id, row in rows.items() if row is not None}


def _count_exactly(viewer_id: int, original: PostId, flags: int) -> dict[PostId, bytes]:
    """What the counts will be once the viewer's own acts have been delivered; nothing while the
    post's shard cannot be reached."""
    params = {"author": original.author_id, "moment": original.moment, "viewer": viewer_id}
    try:
        counted = dict(fetch_all(shard_of(original.author_id), COUNTED, params))
    except UNREACHABLE:
        return {}
    reposts = counted.get(CounterKind.REPOSTS, 0) - counted.get(-Kind.REPOST, 0)
    favourites = counted.get(CounterKind.FAVOURITES, 0) - counted.get(-Kind.FAVOURITE, 0)
    reposts += bool(flags & REPOSTED)
    favourites += bool(flags & FAVOURITED)
    replies = counted.get(CounterKind.REPLIES, 0)
    return {original: present_counts(b"%d,%d,%d" % (replies, reposts, favourites))}
