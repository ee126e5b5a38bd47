"""The scheduled posts of an author, from its shard. Only the author reads them, uncached."""

from collections.abc import Sequence
from typing import Any

import msgspec

from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from posts.scheduled.errors import ScheduledPostNotFound
from posts.scheduled.sql import COLUMNS, PUBLISHED, TABLE, WAITING
from posts.scheduled.types import PostParams, ScheduledPostRow

ONE = f"SELECT {COLUMNS} FROM {TABLE} WHERE author_id = %s AND scheduled_id = %s AND {WAITING}"  # noqa: S608
BY_KEY = f"SELECT {COLUMNS} FROM {TABLE} WHERE author_id = %s AND key = %s AND scheduled_id > %s"  # noqa: S608
# The key serves the order. An author has at most MOST_SCHEDULED.
PAGE = f"""
SELECT {COLUMNS} FROM {TABLE}
WHERE author_id = %s AND scheduled_id < %s AND scheduled_id > %s AND {WAITING}
ORDER BY scheduled_id {{order}} LIMIT %s
"""  # noqa: S608
BEYOND = 2**63 - 1
KEY_HOLDS_MS = 3_600_000
_decode = msgspec.json.Decoder(PostParams).decode


def find_scheduled(author_id: int, scheduled_id: int) -> ScheduledPostRow | None:
    """One query by key."""
    row = fetch_one(shard_of(author_id), ONE, (author_id, scheduled_id))
    return None if row is None else row_of(row)


def get_scheduled(author_id: int, scheduled_id: int) -> ScheduledPostRow:
    """Raises: ScheduledPostNotFound. One query by key."""
    scheduled = find_scheduled(author_id, scheduled_id)
    if scheduled is None:
        raise ScheduledPostNotFound
    return scheduled


def find_by_key(author_id: int, key: str, now_ms: int) -> ScheduledPostRow | None:
    """What a request with this key scheduled in the last hour, also if it is published since. One
    query by the author's rows."""
    row = fetch_one(shard_of(author_id), BY_KEY, (author_id, key, now_ms - KEY_HOLDS_MS))
    return None if row is None else row_of(row)


def list_scheduled(author_id: int, window: Window) -> Page[ScheduledPostRow]:
    """A page, the latest request first. Raises: InvalidCursor. One query by key."""
    below = BEYOND if window.max_id is None else _read_cursor(window.max_id)
    lower = window.min_id or window.since_id
    above = -1 if lower is None else _read_cursor(lower)
    is_upward = window.min_id is not None
    sql = PAGE.format(order="ASC" if is_upward else "DESC")
    rows = fetch_all(shard_of(author_id), sql, (author_id, below, above, window.limit + 1))
    has_more = len(rows) > window.limit
    posts = [row_of(row) for row in rows[: window.limit]]
    posts = posts[::-1] if is_upward else posts
    if not posts:
        return Page([], None, None)
    has_older = has_more or is_upward
    older = str(posts[-1].scheduled_id) if has_older else None
    return Page(posts, older, str(posts[0].scheduled_id))


def row_of(row: Sequence[Any]) -> ScheduledPostRow:
    """From COLUMNS."""
    scheduled_id, due_ms, params, failure, key = row
    failure = "" if failure == PUBLISHED else failure
    return ScheduledPostRow(scheduled_id, due_ms, _decode(params), failure, key)


def _read_cursor(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise InvalidCursor
    return min(int(text), BEYOND)
