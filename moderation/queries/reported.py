"""Posts as moderators see them: with their words, hidden or not."""

from collections.abc import Iterable

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.ids import PostId

READ = """
SELECT text, spoiler_text, deleted_at IS NOT NULL, hidden_at IS NOT NULL FROM posts_post
WHERE author_id = %s AND moment = %s
"""


def load_reported(post_ids: Iterable[str]) -> dict[str, str]:
    """What to read of each, by public id; at most MOST_POSTS of a report. One query by key each."""
    return {public: _describe(PostId.from_public(public)) for public in post_ids}


def _describe(post_id: PostId) -> str:
    where = (post_id.author_id, post_id.moment)
    row = fetch_one(shard_of(post_id.author_id), READ, where)
    if row is None or row[2]:
        return "(deleted)"
    text, spoiler_text, _, is_hidden = row
    words = f"{spoiler_text} · {text}" if spoiler_text else str(text)
    return f"(hidden) {words}" if is_hidden else words
