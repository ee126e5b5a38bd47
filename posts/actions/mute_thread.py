"""Mutes a thread: one statement on the shard of the account that mutes."""

import time

from accounts.errors import AccountNotFound
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PostMarked
from posts.errors import TooManyMutedThreads
from posts.ids import PostId
from posts.types import Kind

MAX_MUTED_THREADS = 500
# posts/functions.sql: lock, row, count and change in one round trip.
MUTE = f"SELECT * FROM posts_mute_thread({', '.join(['%s'] * 8)})"  # noqa: S608


def mute_thread(owner_id: int, thread: PostId) -> bool:
    """Mutes the thread that begins with this post. False: it was muted already.

    `mark_post` with Kind.THREAD_MUTE ends it. Raises: AccountNotFound, TooManyMutedThreads. Safety:
    idempotent; the limit is exact. Cost: one statement.
    """
    alias = shard_of(owner_id)
    change = PostMarked(int(Kind.THREAD_MUTE), thread.author_id, thread.moment)
    muted = (owner_id, thread.author_id, thread.moment, int(time.time() * 1000))
    row = fetch_one(alias, MUTE, (*muted, MAX_MUTED_THREADS, *change_columns(owner_id, change)))
    is_known, is_full, change_id, at = row  # type: ignore[misc]  # a function has one row
    if not is_known:
        raise AccountNotFound
    if is_full:
        raise TooManyMutedThreads(MAX_MUTED_THREADS)
    if change_id is not None:
        announce(alias, owner_id, change, AppendedChange(change_id, at))
    else:
        finish_interrupted(alias, owner_id)
    return change_id is not None
