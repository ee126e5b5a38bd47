"""Reposts a post and undoes a repost: one statement on the reposter's shard each."""

import time
from collections.abc import Callable

from accounts.errors import AccountNotFound
from counters.sql import account_counts_sql
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.actions.insert_post import insert_post
from posts.changes import PostDeleted
from posts.ids import PostId
from posts.queries.own_responses import find_seen_responses
from posts.types import Draft, Kind, Target, Visibility, WrittenPost

# posts/functions.sql: lock, row, count and change in one round trip.
UNDO = f"""
SELECT undone.*, {account_counts_sql("%s")} FROM posts_undo_repost(%s, %s, %s, %s, %s, %s) AS undone
"""  # noqa: S608


def repost(
    author_id: int,
    original: PostId,
    visibility: Visibility = Visibility.PUBLIC,
    clock_s: Callable[[], float] = time.time,
) -> PostId:
    """Reposts a post that is no repost itself. Returns the repost's own id.

    A second call returns the first repost. The caller checks that the author may repost the
    original.
    Raises: AccountNotFound. Safety: idempotent. Cost: as `create_post`; the drain also updates the
    count of the original.
    """
    target = Target(Kind.REPOST, original.author_id, original.moment)
    return insert_post(author_id, Draft("", visibility=visibility), target, clock_s()).post_id


def undo_repost(author_id: int, original: PostId) -> bool:
    """Deletes the author's repost of a post, even if that post is deleted. False: no repost.

    Raises: AccountNotFound. Safety: idempotent. Cost: one statement on the author's shard,
    and a round trip.
    """
    target = Target(Kind.REPOST, original.author_id, original.moment)
    alias, columns = shard_of(author_id), change_columns(author_id, PostDeleted(0, 0, 0))
    values = (author_id, author_id, original.author_id, original.moment, *columns)
    seen = find_seen_responses(author_id, Kind.REPOST, original)
    row = fetch_one(alias, UNDO, values)
    is_known, moment, _, version, change_id, at, counts = row  # type: ignore[misc]  # one row
    if not is_known:
        raise AccountNotFound
    if change_id is None:
        finish_interrupted(alias, author_id)
        return False
    deleted = PostDeleted(moment, version - 1, version, target)
    written = WrittenPost(None, counts, time.monotonic())
    change = AppendedChange(change_id, at, written, None if seen is None else seen - 1)
    announce(alias, author_id, deleted, change)
    return True
