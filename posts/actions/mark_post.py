"""Sets and ends viewer marks: one statement on the shard of the account that marks."""

import time
from collections.abc import Callable

from accounts.errors import AccountNotFound
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PostMarked
from posts.ids import PostId
from posts.queries.own_responses import find_seen_responses
from posts.types import Kind, ResponseRow

# posts/functions.sql: lock, row, count and change in one round trip.
MARK = f"SELECT * FROM posts_mark_post({', '.join(['%s'] * 9)})"  # noqa: S608


def mark_post(
    owner_id: int,
    original: PostId,
    kind: Kind,
    is_on: bool,
    clock_s: Callable[[], float] = time.time,
) -> bool:
    """Sets or ends a favourite or bookmark of a post that is no repost. False: nothing changed.

    The caller checks that the owner may see the post; ending a mark needs no check. Raises:
    AccountNotFound. Safety: idempotent. Cost: one statement on the owner's shard, and for a
    favourite a round trip; the drain updates the count of the post.
    """
    alias = shard_of(owner_id)
    change = PostMarked(int(kind), original.author_id, original.moment)
    post, at_ms = (original.author_id, original.moment, int(kind)), int(clock_s() * 1000)
    params = (owner_id, *post, is_on, at_ms, *change_columns(owner_id, change))
    seen = find_seen_responses(owner_id, kind, original) if kind is Kind.FAVOURITE else None
    row = fetch_one(alias, MARK, params)
    is_known, change_id, at, revision = row  # type: ignore[misc]  # a function has one row
    if not is_known:
        raise AccountNotFound
    if change_id is not None:
        response = ResponseRow(*post, owner_id, 0, at_ms, revision, is_on)
        shown = None if seen is None else seen + (1 if is_on else -1)
        announce(alias, owner_id, change, AppendedChange(change_id, at, response, shown))
    else:
        finish_interrupted(alias, owner_id)
    return change_id is not None
