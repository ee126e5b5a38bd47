"""Deletes a post: one statement on the author's shard."""

import time

from msgspec import structs

from accounts.errors import AccountNotFound
from counters.sql import account_counts_sql
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PostDeleted
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.own_responses import find_seen_responses, is_counted
from posts.types import Kind, Target, WrittenPost

# posts/functions.sql: lock, row, count and change in one round trip.
DELETE = f"""
SELECT deleted.*, {account_counts_sql("%s")},
    post.visibility,
    CASE WHEN quoted_author IS NOT NULL THEN ARRAY[quoted_author, quoted_moment] END
FROM posts_delete_post(%s, %s, %s, %s, %s) AS deleted
LEFT JOIN posts_post AS post ON post.author_id = %s AND post.moment = %s
"""  # noqa: S608


def delete_post(post_id: PostId, keeps_images: bool = False, target: Target | None = None) -> str:
    """Deletes a post and returns its text. The next read of every page is without the post.

    `keeps_images`: the author can use its images in another post for a day. Else they are removed.
    `target`: what the post is about, if the caller knows: then the author sees its count at once.
    Raises: PostNotFound if it does not exist or is deleted, AccountNotFound. Cost: one statement on
    the author's shard.
    """
    author_id, moment = post_id.author_id, post_id.moment
    gone = PostDeleted(moment, 0, 0, keeps_images=keeps_images)
    alias, columns = shard_of(author_id), change_columns(author_id, gone)
    seen = find_seen_responses(author_id, Kind(target.kind), target.post_id) if target else None
    where = (author_id, moment)
    row = fetch_one(alias, DELETE, (author_id, *where, *columns, *where))
    is_known, text, *about, _, version, change_id, at, counts, visibility, quoted = row  # type: ignore[misc]  # one row
    if not is_known:
        raise AccountNotFound
    if change_id is None:
        finish_interrupted(alias, author_id)
        raise PostNotFound
    deleted = structs.replace(
        gone,
        before=version - 1,
        after=version,
        target=Target.of(*about),
        visibility=visibility,
        quoted=tuple(quoted) if quoted else None,
    )
    written = WrittenPost(None, counts, time.monotonic())
    shown = None if seen is None else seen - is_counted(about[0], visibility)
    announce(alias, author_id, deleted, AppendedChange(change_id, at, written, shown))
    return str(text)
