"""Threads: the first post of a thread, and the accounts that muted it."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.changes import PostCreated, PostEdited
from posts.errors import PostNotFound
from posts.fragments.read import find_thread
from posts.ids import PostId
from posts.queries.rows import find_post_row
from posts.reading.statuses import get_shown
from posts.types import Kind

MUTED = f"""
SELECT owner_id, target_author, target_moment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[])
    AS wanted (owner_id, target_author, target_moment)
JOIN posts_viewermark USING (owner_id, target_author, target_moment)
WHERE kind = {int(Kind.THREAD_MUTE)} AND is_on
"""  # noqa: S608
# Also mutes that ended. Old replies do not know their thread.
MUTES_OF_OWN = f"""
SELECT author_id, moment, is_on, mark.since_ms
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post AS post USING (author_id, moment)
JOIN posts_viewermark AS mark ON mark.owner_id = author_id AND mark.kind = {int(Kind.THREAD_MUTE)}
    AND mark.target_author = coalesce(post.thread_author, author_id)
    AND mark.target_moment = coalesce(post.thread_moment, moment)
"""  # noqa: S608
AccountAndThread = tuple[int, PostId]


class ThreadedPost(NamedTuple):
    """A post that is no repost, and the first post of its thread."""

    post_id: PostId
    thread: PostId


class ThreadMute(NamedTuple):
    """An account's mute of a thread. `since_ms`: when it began, or when it ended."""

    is_on: bool
    since_ms: int


def get_threaded(post_id: PostId, viewer_id: int | None) -> ThreadedPost:
    """The post, or its original if it is a repost, if the viewer may see both.

    Raises: PostNotFound. Cost: as `get_shown`.
    """
    original, status = get_shown(post_id, viewer_id)
    return ThreadedPost(original, find_thread(status))


def get_any_threaded(post_id: PostId) -> ThreadedPost:
    """As `get_threaded`, also of a post that the viewer may not see, or that is deleted or hidden.

    For undoing a mute. Raises: PostNotFound if the post never existed. Cost: one query by key; two
    for a repost.
    """
    row = find_post_row(post_id)
    if row is not None and row.target is not None and row.kind == Kind.REPOST:
        post_id = row.target.post_id
        row = find_post_row(post_id)
    if row is None:
        raise PostNotFound
    return ThreadedPost(post_id, row.thread)


def thread_of(post_id: PostId, payload: PostCreated | PostEdited) -> PostId:
    """The first post of the thread, from a change of the post."""
    return PostId.at(*payload.thread) if payload.thread else post_id


def find_muted_threads(wanted: Iterable[AccountAndThread]) -> set[AccountAndThread]:
    """Those of these accounts and threads that the account has muted.

    For consumers that notify: also a thread that was muted a moment ago is found. Cost: one query
    by key on each shard of the accounts.
    """
    by_shard: dict[str, list[AccountAndThread]] = {}
    for account_id, thread in wanted:
        by_shard.setdefault(shard_of(account_id), []).append((account_id, thread))
    calls = {alias: partial(_read_muted, alias, some) for alias, some in by_shard.items()}
    return {muted for part in scatter(calls).values() for muted in part}


def _read_muted(alias: str, wanted: list[AccountAndThread]) -> list[AccountAndThread]:
    columns = [
        [account_id for account_id, _ in wanted],
        [thread.author_id for _, thread in wanted],
        [thread.moment for _, thread in wanted],
    ]
    rows = fetch_all(alias, MUTED, columns)
    return [(owner_id, PostId.at(*thread)) for owner_id, *thread in rows]


def load_mutes_of_own(ids: Iterable[PostId]) -> dict[PostId, ThreadMute]:
    """By post: its author's mute of its thread, if the author ever muted it.

    Cost: one query by keys on each shard of the authors.
    """
    by_shard: dict[str, list[PostId]] = {}
    for post_id in ids:
        by_shard.setdefault(shard_of(post_id.author_id), []).append(post_id)
    calls = {alias: partial(_read_mutes, alias, some) for alias, some in by_shard.items()}
    return {i: mute for part in scatter(calls).values() for i, mute in part}


def _read_mutes(alias: str, ids: list[PostId]) -> list[tuple[PostId, ThreadMute]]:
    columns = [[i.author_id for i in ids], [i.moment for i in ids]]
    rows = fetch_all(alias, MUTES_OF_OWN, columns)
    return [(PostId.at(*row[:2]), ThreadMute(*row[2:])) for row in rows]
