"""Hides a post or shows it again, or one image of it, on the author's shard."""

from datetime import datetime

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.images.actions.place_files import withhold_images_of_post
from counters.actions.move_counts import move_counts
from counters.kinds import CounterKind
from counters.types import ACCOUNT, CountMove
from infra.changes.append import append_change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.changes import PostHidden, PostImagesChanged
from posts.ids import PostId

CHANGE = """
UPDATE {table} SET media = (
    SELECT jsonb_agg(CASE (one ->> 'id')::bigint WHEN %(id)s
        THEN one || jsonb_build_object('token', %(token)s::text, 'is_hidden', %(hidden)s::boolean)
        ELSE one END ORDER BY place)
    FROM jsonb_array_elements(media) WITH ORDINALITY AS listed (one, place))
WHERE author_id = %(author)s AND moment = %(moment)s AND media IS NOT NULL
"""
_TABLES = ("posts_post", "posts_postversion")
WRITE = """
UPDATE posts_post SET hidden_at = %s, hidden_revision = %s
WHERE author_id = %s AND moment = %s AND deleted_at IS NULL AND hidden_revision < %s
RETURNING visibility
"""


def hide_post(post_id: PostId, hidden_at: datetime | None, revision: int) -> bool:
    """Hides a post, or shows it (`hidden_at` None). The next read of every page obeys.

    Returns False if the row's revision is not lower, or the post is deleted. No account sees a
    hidden post, not even its author. Counts do not change. Raises: AccountNotFound. Safety:
    idempotent. Cost: five statements on the author's shard.
    """
    alias = shard_of(post_id.author_id)
    where = (post_id.author_id, post_id.moment)
    with transaction.atomic(using=alias):
        lock_account(alias, post_id.author_id)
        row = fetch_one(alias, WRITE, (hidden_at, revision, *where, revision))
        if row is None:
            return False
        withhold_images_of_post(alias, *where, is_hidden=hidden_at is not None)
        # The count stays, but gets a new version: caches and replicas compare versions.
        moved = move_counts(alias, [CountMove(post_id.author_id, CounterKind.POSTS, 0)])
        version = moved[post_id.author_id, ACCOUNT, CounterKind.POSTS].version
        change = PostHidden(post_id.moment, version - 1, version, row[0])
        append_change(alias, post_id.author_id, change)
    return True


def change_media(
    alias: str, author_id: int, moment: int, image_id: int, token: str, is_hidden: bool
) -> None:
    """Hides or shows one image of a post and of its earlier versions.

    Safety: the caller holds the lock of the account. The next read of every page obeys. Cost: four
    statements.
    """
    where = {"author": author_id, "moment": moment}
    for table in _TABLES:
        values = {"id": image_id, "token": token, "hidden": is_hidden, **where}
        execute(alias, CHANGE.format(table=table), values)
    # The count stays, but gets a new version: caches and replicas compare versions.
    moved = move_counts(alias, [CountMove(author_id, CounterKind.POSTS, 0)])
    version = moved[author_id, ACCOUNT, CounterKind.POSTS].version
    append_change(alias, author_id, PostImagesChanged(moment, version - 1, version))
