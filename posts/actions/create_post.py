"""Publishes a post: one transaction on the author's shard."""

import time
from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.actions.next_moment import move_post_count, next_moment
from posts.changes import PostCreated
from posts.ids import PostId
from posts.types import Draft, Kind, Target

# Keys are valid for an hour, as in Mastodon. The author's next post deletes old keys; no job does.
FORGET = """
DELETE FROM posts_publishedkey WHERE author_id = %s AND created_at <= now() - interval '1 hour'
"""
PUBLISHED = "SELECT moment FROM posts_publishedkey WHERE author_id = %s AND key = %s"
REMEMBER = """
INSERT INTO posts_publishedkey (author_id, key, moment, created_at) VALUES (%s, %s, %s, now())
"""
INSERT = """
INSERT INTO posts_post
    (author_id, moment, text, sensitive, spoiler_text, language, kind, target_author, target_moment)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def create_post(
    author_id: int,
    draft: Draft,
    idempotency_key: str | None = None,
    clock_s: Callable[[], float] = time.time,
) -> PostId:
    """Publishes a post and returns its id. A repeated key returns the id of the first post.

    The ids of one author strictly grow, even within a second and if the clock is set back. Raises:
    AccountNotFound. Safety: idempotent with a key, for an hour. Cost: five statements (eight with a
    key) in one transaction on the author's shard; the drain updates followers' timelines.
    """
    alias = shard_of(author_id)
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        published = _find_published(alias, author_id, idempotency_key)
        if published is not None:
            return published
        moment = next_moment(alias, author_id, clock_s())
        _insert(alias, author_id, moment, draft)
        if idempotency_key is not None:
            execute(alias, REMEMBER, (author_id, idempotency_key, moment))
        version = move_post_count(alias, author_id, +1)
        parent = _parent(draft)
        change = PostCreated(moment, before=version - 1, after=version, target=parent)
        append_change(alias, author_id, change)
    return PostId.at(author_id, moment)


def _find_published(alias: str, author_id: int, key: str | None) -> PostId | None:
    """The post that was published with this key within the last hour."""
    if key is None:
        return None
    execute(alias, FORGET, (author_id,))
    row = fetch_one(alias, PUBLISHED, (author_id, key))
    return PostId.at(author_id, row[0]) if row else None


def _parent(draft: Draft) -> Target | None:
    parent = draft.in_reply_to
    return Target(Kind.REPLY, parent.author_id, parent.moment) if parent else None


def _insert(alias: str, author_id: int, moment: int, draft: Draft) -> None:
    target = _parent(draft) or (Kind.POST, None, None)
    text = (draft.text, draft.sensitive, draft.spoiler_text, draft.language)
    execute(alias, INSERT, (author_id, moment, *text, *target))
