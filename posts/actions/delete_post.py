"""Deletes a post: one transaction on the author's shard."""

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.actions.create_post import move_posts
from posts.changes import PostDeleted
from posts.errors import PostNotFound
from posts.ids import PostId

# The text is read under the lock and blanked in the row: the tombstone keeps the id, not the words.
DELETE = """
UPDATE posts_post SET text = '', spoiler_text = '', deleted_at = now()
FROM (SELECT text FROM posts_post WHERE author_id = %(author)s AND moment = %(moment)s) AS old
WHERE author_id = %(author)s AND moment = %(moment)s AND deleted_at IS NULL
RETURNING old.text
"""


def delete_post(post_id: PostId) -> str:
    """Deletes the author's own post and returns its text; gone from every page at the next read.

    Raises: PostNotFound when there is none (any more), AccountNotFound. Cost: five statements in
    one transaction on the author's shard.
    """
    alias = shard_of(post_id.author_id)
    with transaction.atomic(using=alias):
        lock_account(alias, post_id.author_id)
        where = {"author": post_id.author_id, "moment": post_id.moment}
        deleted = fetch_one(alias, DELETE, where)
        if deleted is None:
            raise PostNotFound
        version = move_posts(alias, post_id.author_id, -1)
        change = PostDeleted(post_id.moment, before=version - 1, after=version)
        append_change(alias, post_id.author_id, change)
    return str(deleted[0])
