"""Posts as moderators read them: hidden or not, with all versions. No rule of readers applies."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from accounts.images.types import Attachment
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from posts.queries.rows import PAST_ALL, list_timeline
from posts.types import Kind, PostRange, Visibility

TEXTS = """
SELECT moment, NULL AS number, text, spoiler_text, media::text, edited_at, kind, visibility,
    target_author, target_moment, deleted_at, hidden_at, (poll -> 'options')::text
FROM posts_post WHERE author_id = %(author)s AND moment = ANY(%(moments)s::bigint[])
UNION ALL
SELECT moment, number, text, spoiler_text, media::text, edited_at, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL
FROM posts_postversion WHERE author_id = %(author)s AND moment = ANY(%(moments)s::bigint[])
ORDER BY moment, number DESC NULLS FIRST
"""
WRITTEN = (Kind.POST, Kind.REPLY)
_images = msgspec.json.Decoder(list[Attachment])
_options = msgspec.json.Decoder(list[str])


class PostText(NamedTuple):
    """A version of a post. `edited_at`: None for the first version. `images`: also hidden ones."""

    text: str
    spoiler_text: str
    images: Sequence[Attachment]
    edited_at: datetime | None


class ModeratedPost(NamedTuple):
    """A post of any state. `target`: of a reply or repost. `versions`: newest first, at least one.

    A deleted post has one version without a text.
    """

    id: PostId
    kind: Kind
    visibility: Visibility
    target: PostId | None
    deleted_at: datetime | None
    hidden_at: datetime | None
    options: Sequence[str]
    versions: Sequence[PostText]


def load_moderated_posts(
    author_id: int, post_ids: Iterable[PostId]
) -> Mapping[PostId, ModeratedPost]:
    """Posts of one author by id; those that never existed are missing. One query by key."""
    moments = [post_id.moment for post_id in post_ids]
    rows = fetch_all(shard_of(author_id), TEXTS, {"author": author_id, "moments": moments})
    versions = defaultdict(list)
    for row in rows:
        versions[row[0]].append(row)
    posts = (_post_of(author_id, of_post) for of_post in versions.values())
    return {post.id: post for post in posts}


def list_latest_ids(author_id: int, limit: int) -> list[PostId]:
    """An author's newest posts and replies that all may see, newest first, hidden ones too.

    Private and direct posts are left out: a moderator reads them only if they are reported. One
    query.
    """
    newest = PostRange(0, PAST_ALL, limit, newest_first=True)
    listed = list_timeline(author_id, newest, WRITTEN, most_closed=Visibility.UNLISTED)
    return [post_id for post_id, _ in listed]


def _post_of(author_id: int, rows: Sequence[tuple[Any, ...]]) -> ModeratedPost:
    """The first row is the post as it is now."""
    moment, *_, kind, visibility, author, target, deleted_at, hidden_at, options = rows[0]
    return ModeratedPost(
        PostId.at(author_id, moment),
        Kind(kind),
        Visibility(visibility),
        None if author is None else PostId.at(author, target),
        deleted_at,
        hidden_at,
        _options.decode(options) if options else (),
        [_text_of(*row[2:6]) for row in rows],
    )


def _text_of(
    text: str, spoiler_text: str, media: str | None, edited_at: datetime | None
) -> PostText:
    return PostText(text, spoiler_text, _images.decode(media) if media else (), edited_at)
