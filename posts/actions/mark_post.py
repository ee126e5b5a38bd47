"""Sets and ends viewer marks: one transaction on the shard of the account that marks."""

import time
from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from counters.actions.move import move
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.changes import PostMarked
from posts.ids import PostId
from posts.types import Kind

READ = """
SELECT is_on, revision FROM posts_viewermark
WHERE owner_id = %s AND target_moment = %s AND target_author = %s AND kind = %s
"""
WRITE = """
INSERT INTO posts_viewermark
    (owner_id, target_moment, target_author, kind, is_on, revision, since_ms)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (owner_id, target_moment, target_author, kind) DO UPDATE SET
    is_on = excluded.is_on, revision = excluded.revision, since_ms = excluded.since_ms
"""


def mark_post(
    owner_id: int,
    original: PostId,
    kind: Kind,
    is_on: bool,
    clock_s: Callable[[], float] = time.time,
) -> bool:
    """Sets or ends a favourite or bookmark of a post that is no repost. False: nothing changed.

    The caller checks that the owner may see the post; ending a mark needs no check. Raises:
    AccountNotFound. Safety: idempotent. Cost: five statements on the owner's shard; the drain
    updates the count of the post.
    """
    alias = shard_of(owner_id)
    where = (owner_id, original.moment, original.author_id, int(kind))
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        was_on, revision = fetch_one(alias, READ, where) or (False, 0)
        if was_on == is_on:
            return False
        execute(alias, WRITE, (*where, is_on, revision + 1, int(clock_s() * 1000)))
        move(alias, [CountMove(owner_id, CounterKind.VIEWER_MARKS, 1 if is_on else -1)])
        change = PostMarked(int(kind), original.author_id, original.moment)
        append_change(alias, owner_id, change)
    return True
