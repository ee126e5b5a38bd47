"""Deletes a post: one transaction on the author's shard."""

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.actions.next_moment import move_post_count
from posts.changes import PostDeleted
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.types import Target

# Reads the text under the lock and empties it in the row: the tombstone keeps only the id.
DELETE = """
UPDATE posts_post SET text = '', spoiler_text = '', deleted_at = now()
FROM (SELECT text FROM posts_post WHERE author_id = %(author)s AND moment = %(moment)s) AS old
WHERE author_id = %(author)s AND moment = %(moment)s AND deleted_at IS NULL
RETURNING old.text, kind, target_author, target_moment
"""


def delete_post(post_id: PostId) -> str:
    """Deletes a post and returns its text. The next read of every page is without the post.

    Raises: PostNotFound if it does not exist or is deleted, AccountNotFound. Cost: five statements
    in one transaction on the author's shard.
    """
    alias = shard_of(post_id.author_id)
    with transaction.atomic(using=alias):
        lock_account(alias, post_id.author_id)
        return delete_locked(alias, post_id)


def delete_locked(alias: str, post_id: PostId) -> str:
    """Deletes a post of any kind. The caller holds the author's row lock. Raises: PostNotFound."""
    where = {"author": post_id.author_id, "moment": post_id.moment}
    deleted = fetch_one(alias, DELETE, where)
    if deleted is None:
        raise PostNotFound
    version = move_post_count(alias, post_id.author_id, -1)
    text, *target = deleted
    change = PostDeleted(post_id.moment, version - 1, version, Target.of(*target))
    append_change(alias, post_id.author_id, change)
    return str(text)
