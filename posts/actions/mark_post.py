"""Sets and ends viewer marks, pins and mutes of threads: one statement on the owner's shard."""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings

from accounts.errors import AccountNotFound
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import PostMarked
from posts.errors import (
    DirectNotPinnable,
    PostNotFound,
    RepostNotPinnable,
    TooManyMutedThreads,
    TooManyPins,
)
from posts.ids import PostId
from posts.queries.own_responses import find_seen_responses
from posts.types import REACTIONS, Kind, ResponseRow

MAX_MUTED_THREADS = 500
# posts/functions.sql: lock, row, count and change in one round trip each.
MARK = f"SELECT * FROM posts_mark_post({', '.join(['%s'] * 9)})"  # noqa: S608
MUTE = f"SELECT * FROM posts_mute_thread({', '.join(['%s'] * 8)})"  # noqa: S608
PIN = f"SELECT * FROM posts_pin_post({', '.join(['%s'] * 7)})"  # noqa: S608
REFUSALS = {
    "gone": PostNotFound,
    "repost": RepostNotPinnable,
    "direct": DirectNotPinnable,
    "full": TooManyPins,
}


def mark_post(
    owner_id: int,
    original: PostId,
    kind: Kind,
    is_on: bool,
    clock_s: Callable[[], float] = time.time,
) -> bool:
    """Sets or ends a reaction or bookmark of a post that is no repost. False: nothing changed.

    The caller checks that the owner may see the post; ending a mark needs no check. Raises:
    AccountNotFound. Safety: idempotent. Cost: one statement on the owner's shard, and for a
    reaction a round trip; the drain updates the count of the post.
    """
    alias = shard_of(owner_id)
    change = PostMarked(int(kind), original.author_id, original.moment)
    post, at_ms = (original.author_id, original.moment, int(kind)), int(clock_s() * 1000)
    params = (owner_id, *post, is_on, at_ms, *change_columns(owner_id, change))
    seen = find_seen_responses(owner_id, kind, original) if kind in REACTIONS else None
    row = fetch_one(alias, MARK, params)
    is_known, change_id, at, revision = row  # type: ignore[misc]  # a function has one row
    if not is_known:
        raise AccountNotFound
    response = ResponseRow(*post, owner_id, 0, at_ms, revision, is_on)
    shown = None if seen is None else seen + (1 if is_on else -1)
    return _end(alias, owner_id, change, change_id, at, response, shown)


def pin_post(post_id: PostId) -> bool:
    """Pins a post to the page of its author. False: it was pinned already.

    `mark_post` with Kind.PIN ends the pin; so does deleting the post. Raises: AccountNotFound,
    PostNotFound, RepostNotPinnable, DirectNotPinnable, TooManyPins. Safety: idempotent; the account
    is locked, so two pins at the same time cannot exceed the limit. Cost: one statement.
    """
    author_id, moment = post_id.author_id, post_id.moment
    alias, change = shard_of(author_id), PostMarked(int(Kind.PIN), author_id, moment)
    pin = (author_id, moment, int(time.time() * 1000), settings.MAX_PINNED_POSTS)
    row = fetch_one(alias, PIN, (*pin, *change_columns(author_id, change)))
    is_known, refused, change_id, at = row  # type: ignore[misc]  # a function has one row
    if not is_known:
        raise AccountNotFound
    if refused is not None:
        raise REFUSALS[refused]
    return _end(alias, author_id, change, change_id, at)


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
    return _end(alias, owner_id, change, change_id, at)


def _end(
    alias: str, owner_id: int, change: PostMarked, change_id: int | None, *appended: Any
) -> bool:
    """`change_id`: None if nothing changed; then an earlier call may have died before its end."""
    if change_id is not None:
        announce(alias, owner_id, change, AppendedChange(change_id, *appended))
    else:
        finish_interrupted(alias, owner_id)
    return change_id is not None
