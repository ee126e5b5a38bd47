"""The versions of a post: all that its author wrote, and the current one as it was typed."""

from typing import NamedTuple

import orjson

from accounts.queries.load import load_account_json
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.errors import PostNotFound
from posts.fragments.present import present_version
from posts.ids import PostId
from posts.queries.rows import read_posts
from posts.reading.statuses import get_original
from posts.types import PostRow

# One statement, hence one snapshot: a version is in one of the tables, and never in both.
VERSIONS = """
WITH shown AS (
    SELECT * FROM posts_post
    WHERE author_id = %s AND moment = %s AND deleted_at IS NULL AND hidden_at IS NULL
)
SELECT old.number, old.text, old.sensitive, old.spoiler_text, old.mentions, old.media,
    old.poll, old.edited_at
FROM shown JOIN posts_postversion AS old USING (author_id, moment)
UNION ALL
SELECT NULL, text, sensitive, spoiler_text, mentions, media, poll, edited_at FROM shown
ORDER BY 1 NULLS LAST
"""


class TypedText(NamedTuple):
    """A post as its author typed it."""

    text: str
    spoiler_text: str


def get_typed_text(post_id: PostId, viewer_id: int | None) -> TypedText:
    """The text of a post that the viewer may see. Raises: PostNotFound.

    Cost: one query by key, and `get_original`.
    """
    original = get_original(post_id, viewer_id)
    rows = read_posts(shard_of(original.author_id), [original])
    if not rows:
        raise PostNotFound
    return TypedText(rows[0].text, rows[0].spoiler_text)


def load_versions(post_id: PostId, viewer_id: int | None) -> list[bytes]:
    """StatusEdit entities of all versions of a post that the viewer may see, oldest first.

    At most MAX_EDITS and one. Raises: PostNotFound, also if the post was deleted or hidden in the
    meantime. Cost: one query by key, the author's profile, and `get_original`.
    """
    original = get_original(post_id, viewer_id)
    author_id, moment = original.author_id, original.moment
    versions = fetch_all(shard_of(author_id), VERSIONS, (author_id, moment))
    account = load_account_json([author_id]).get(author_id)
    if not versions or account is None:
        raise PostNotFound
    return [present_version(_row_of(original, version), account) for version in versions]


def _row_of(post_id: PostId, version: tuple[object, ...]) -> PostRow:
    _, written, sensitive, spoiler_text, mentions, media, poll, edited_at = version
    row = PostRow(post_id.author_id, post_id.moment, written, sensitive, spoiler_text, None)  # type: ignore[arg-type]
    texts = mentions, media, poll
    json = [None if text is None else orjson.loads(text) for text in texts]  # type: ignore[arg-type]
    more = dict(zip(("mentions", "media", "poll"), json, strict=True))
    return row._replace(**more, edited_at=edited_at)  # type: ignore[arg-type]
