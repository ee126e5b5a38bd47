"""Reposts a post and undoes a repost: one statement on the reposter's shard each."""

import time
from collections.abc import Callable

from accounts.errors import AccountNotFound
from infra.changes.append import announce, columns_of, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.actions.write_post import write_post
from posts.changes import PostDeleted
from posts.ids import PostId
from posts.types import Draft, Kind, Target

# posts/migrations/0002_write_functions.py: lock, row, count and change in one round trip.
UNDO = "SELECT * FROM posts_undo_repost(%s, %s, %s, %s, %s, %s)"


def repost(author_id: int, original: PostId, clock_s: Callable[[], float] = time.time) -> PostId:
    """Reposts a post that is no repost itself. Returns the repost's own id.

    A second call returns the first repost. The caller checks that the author may see the original.
    Raises: AccountNotFound. Safety: idempotent. Cost: as `create_post`; the drain also updates the
    count of the original.
    """
    target = Target(Kind.REPOST, original.author_id, original.moment)
    return write_post(author_id, Draft(""), target, clock_s())


def undo_repost(author_id: int, original: PostId) -> bool:
    """Deletes the author's repost of a post, even if that post is deleted. False: no repost.

    Raises: AccountNotFound. Safety: idempotent. Cost: one statement on the author's shard.
    """
    target = Target(Kind.REPOST, original.author_id, original.moment)
    alias, columns = shard_of(author_id), columns_of(author_id, PostDeleted(0, 0, 0))
    row = fetch_one(alias, UNDO, (author_id, original.author_id, original.moment, *columns))
    is_known, moment, _, version, change_id, at = row  # type: ignore[misc]  # one row
    if not is_known:
        raise AccountNotFound
    if change_id is None:
        finish_interrupted(alias, author_id)
        return False
    announce(alias, author_id, PostDeleted(moment, version - 1, version, target), change_id, at)
    return True
