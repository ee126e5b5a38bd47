"""Reposts a post and undoes a repost: one transaction on the reposter's shard each."""

import time
from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.actions.delete_post import delete_locked
from posts.actions.next_moment import move_post_count, next_moment
from posts.changes import PostCreated
from posts.ids import PostId
from posts.types import Kind, Target

FIND = """
SELECT moment FROM posts_post
WHERE author_id = %s AND target_moment = %s AND target_author = %s
    AND kind = 2 AND deleted_at IS NULL
"""
INSERT = """
INSERT INTO posts_post (author_id, moment, text, sensitive, kind, target_author, target_moment,
    spoiler_text)
VALUES (%s, %s, '', false, %s, %s, %s, '')
"""


def repost(author_id: int, original: PostId, clock_s: Callable[[], float] = time.time) -> PostId:
    """Reposts a post that is no repost itself. Returns the repost's own id.

    A second call returns the first repost. The caller checks that the author may see the original.
    Raises: AccountNotFound. Safety: idempotent. Cost: six statements on the author's shard; the
    drain updates the count of the original and followers' timelines.
    """
    alias = shard_of(author_id)
    target = Target(Kind.REPOST, original.author_id, original.moment)
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        found = _find(alias, author_id, original)
        if found is not None:
            return found
        moment = next_moment(alias, author_id, clock_s())
        execute(alias, INSERT, (author_id, moment, *target))
        version = move_post_count(alias, author_id, +1)
        append_change(alias, author_id, PostCreated(moment, version - 1, version, target))
    return PostId.at(author_id, moment)


def undo_repost(author_id: int, original: PostId) -> bool:
    """Deletes the author's repost of a post, even if that post is deleted. False: no repost.

    Raises: AccountNotFound. Safety: idempotent. Cost: five statements on the author's shard.
    """
    alias = shard_of(author_id)
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        found = _find(alias, author_id, original)
        if found is not None:
            delete_locked(alias, found)
    return found is not None


def _find(alias: str, author_id: int, original: PostId) -> PostId | None:
    row = fetch_one(alias, FIND, (author_id, original.moment, original.author_id))
    return PostId.at(author_id, row[0]) if row else None
