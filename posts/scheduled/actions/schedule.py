"""Schedules posts, changes when they are published, and cancels them: on the author's shard."""

from collections.abc import Sequence

import msgspec
from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.images.actions.use_image import release_images, reserve_images
from accounts.images.errors import ImageNotFound
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.errors import ImagesTaken
from posts.scheduled.errors import (
    ScheduledPostNotFound,
    TooManyOnDay,
    TooManyScheduled,
    TooSoon,
)
from posts.scheduled.queries.scheduled import KEY_HOLDS_MS, find_by_key, get_scheduled
from posts.scheduled.sql import PUBLISHED, TABLE, WAITING
from posts.scheduled.types import PostParams, ScheduledPostRow

DAY_MS = 86_400_000
LEAST_AHEAD_MS = 300_000
MOST_SCHEDULED, MOST_ON_DAY = 300, 25
# How long its images stay after the time at which a post is due.
IMAGES_STAY_MS = 7 * DAY_MS
DELETE_OLD = f"""
DELETE FROM {TABLE} WHERE author_id = %s AND scheduled_id <= %s AND failure = '{PUBLISHED}'
"""  # noqa: S608
NUMBERS = f"""
SELECT count(*) FILTER (WHERE {WAITING}),
    count(*) FILTER (WHERE due_ms / {DAY_MS} = %s AND {WAITING}), max(scheduled_id),
    coalesce(bool_or(media_ids && %s::bigint[] AND {WAITING}), false)
FROM {TABLE} WHERE author_id = %s AND scheduled_id <> %s
"""  # noqa: S608
INSERT = f"""
INSERT INTO {TABLE} (author_id, scheduled_id, due_ms, next_ms, params, media_ids, failure, key)
VALUES (%s, %s, %s, %s, %s, %s, '', %s)
"""  # noqa: S608
MOVE = f"""
UPDATE {TABLE} SET due_ms = %s, next_ms = %s, failure = ''
WHERE author_id = %s AND scheduled_id = %s
"""  # noqa: S608
DELETE = f"DELETE FROM {TABLE} WHERE author_id = %s AND scheduled_id = %s"  # noqa: S608
NO_ID = -1


def schedule_post(
    author_id: int, params: PostParams, due_ms: int, key: str, now_ms: int
) -> ScheduledPostRow:
    """Keeps a post for later. The same key within an hour returns the first one.

    `key`: empty for none. Raises: TooSoon, TooManyScheduled, TooManyOnDay (exact under
    concurrency: the author's row is locked), ImagesTaken, AccountNotFound. Safety: idempotent with
    a key: it is looked up first, because the time may have come too near since the first request.
    Cost: four statements; one more with a key, and one with images.
    """
    alias = shard_of(author_id)
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        known = find_by_key(author_id, key, now_ms) if key else None
        if known is not None:
            return known
        check_due(due_ms, now_ms)
        execute(alias, DELETE_OLD, (author_id, now_ms - KEY_HOLDS_MS))
        latest = _check_room(alias, author_id, due_ms, params.media_ids)
        _reserve(alias, author_id, params.media_ids, due_ms)
        scheduled_id = max(now_ms, latest + 1)
        encoded = msgspec.json.encode(params).decode()
        columns = (due_ms, due_ms, encoded, list(params.media_ids), key)
        execute(alias, INSERT, (author_id, scheduled_id, *columns))
    return ScheduledPostRow(scheduled_id, due_ms, params, "", key)


def move_scheduled(author_id: int, scheduled_id: int, due_ms: int, now_ms: int) -> ScheduledPostRow:
    """Changes when it is published; one that failed is tried again then.

    Raises: ScheduledPostNotFound, and as `schedule_post`. Safety: idempotent. Cost: four
    statements, one more with images.
    """
    check_due(due_ms, now_ms)
    alias = shard_of(author_id)
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        scheduled = get_scheduled(author_id, scheduled_id)
        _check_room(alias, author_id, due_ms, (), scheduled_id)
        _reserve(alias, author_id, scheduled.media_ids, due_ms)
        execute(alias, MOVE, (due_ms, due_ms, author_id, scheduled_id))
    return scheduled._replace(due_ms=due_ms, failure="")


def cancel_scheduled(author_id: int, scheduled_id: int) -> None:
    """Deletes it, and gives its images back to the author for a day.

    Raises: ScheduledPostNotFound, AccountNotFound. Cost: three statements, one more with images.
    """
    alias = shard_of(author_id)
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        scheduled = get_scheduled(author_id, scheduled_id)
        if scheduled.media_ids:
            release_images(alias, author_id, scheduled.media_ids)
        if not execute(alias, DELETE, (author_id, scheduled_id)):
            raise ScheduledPostNotFound


def forget_published(author_id: int, scheduled_id: int) -> None:
    """Deletes a row that stayed for its key. One statement."""
    sql = f"{DELETE} AND failure = '{PUBLISHED}'"
    execute(shard_of(author_id), sql, (author_id, scheduled_id))


def check_due(due_ms: int, now_ms: int) -> None:
    """Raises: TooSoon."""
    if due_ms < now_ms + LEAST_AHEAD_MS:
        raise TooSoon


def _check_room(
    alias: str, author_id: int, due_ms: int, media_ids: Sequence[int], but: int = NO_ID
) -> int:
    """The highest id of the author's other scheduled posts; 0 without one."""
    params = (due_ms // DAY_MS, list(media_ids), author_id, but)
    total, on_day, latest, has_images = fetch_one(alias, NUMBERS, params) or (0, 0, None, False)
    if total >= MOST_SCHEDULED:
        raise TooManyScheduled(MOST_SCHEDULED)
    if on_day >= MOST_ON_DAY:
        raise TooManyOnDay(MOST_ON_DAY)
    if has_images:
        raise ImagesTaken
    return latest or 0


def _reserve(alias: str, author_id: int, media_ids: Sequence[int], due_ms: int) -> None:
    try:
        if media_ids:
            reserve_images(alias, author_id, media_ids, due_ms + IMAGES_STAY_MS)
    except ImageNotFound:
        raise ImagesTaken from None
