"""Adds posts to one shard's recent-posts index and removes them."""

from collections.abc import Collection, Iterable, Sequence

from infra.sharding.sql import execute, fetch_all
from posts.ids import PostId
from timelines.types import Entry

# In key order, so that two writers of the same rows cannot deadlock.
INSERT = """
INSERT INTO timelines_recentpost (author_id, moment, shown_author, shown_moment)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
ON CONFLICT DO NOTHING
"""
# With an arrival of long ago.
BACKFILL = """
INSERT INTO timelines_recentpost (author_id, moment, shown_author, shown_moment, arrival)
SELECT *, 0 FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
ON CONFLICT DO NOTHING
"""
MISSING = """
SELECT one.author_id, one.moment FROM unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
WHERE NOT EXISTS (
    SELECT FROM timelines_recentpost AS post
    WHERE post.author_id = one.author_id AND post.moment = one.moment)
"""
# In key order too, because posts are settled at the same time.
DELETE = """
WITH locked AS (
    SELECT post.author_id, post.moment FROM timelines_recentpost AS post
    JOIN unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment) USING (author_id, moment)
    ORDER BY post.author_id, post.moment FOR UPDATE OF post
)
DELETE FROM timelines_recentpost AS post USING locked
WHERE post.author_id = locked.author_id AND post.moment = locked.moment
"""


def index_recent(alias: str, entries: Sequence[Entry]) -> int:
    """Adds entries of any authors to this shard's index; returns how many were missing.

    Call it before you push an entry to a reader of this shard. A rebuild keeps what is pushed after
    its start, and finds here what was pushed before (timelines/actions/rebuild_timeline.py).
    Raises: OperationalError, InterfaceError when the shard does not answer; then push to none of
    its readers. Safety: idempotent, in any order. Cost: one statement.
    """
    return _insert(alias, INSERT, entries)


def backfill_recent(alias: str, entries: Sequence[Entry]) -> int:
    """As `index_recent`, for posts that readers have had for a long time: no poll takes them for
    new."""
    return _insert(alias, BACKFILL, entries)


def _insert(alias: str, sql: str, entries: Sequence[Entry]) -> int:
    if not entries:
        return 0
    return execute(alias, sql, columns_of_entries(entries))


def columns_of_entries(entries: Sequence[Entry]) -> list[list[int | None]]:
    """Columns of rows in key order, each entry once."""
    rows = [_row(entry) for entry in sorted(set(entries), key=_key)]
    return [list(column) for column in zip(*rows, strict=True)]


def count_missing(alias: str, entries: Sequence[Entry]) -> int:
    """How many of the entries `index_recent` would add. One query."""
    return len(find_unindexed(alias, {entry.event for entry in entries}))


def find_unindexed(alias: str, events: Collection[PostId]) -> list[PostId]:
    """Those of the posts and reposts that this shard's index lacks. One query."""
    return [PostId.at(*row) for row in fetch_all(alias, MISSING, _columns(events))]


def remove_recent(alias: str, events: Iterable[PostId]) -> None:
    """Removes deleted posts from this shard's index. Safety: idempotent. Cost: one statement."""
    execute(alias, DELETE, _columns(sorted(events)))


def _columns(events: Collection[PostId]) -> tuple[list[int], list[int]]:
    return [event.author_id for event in events], [event.moment for event in events]


def _key(entry: Entry) -> tuple[int, int]:
    return entry.event.author_id, entry.event.moment


def _row(entry: Entry) -> tuple[int, int, int | None, int | None]:
    event, original = entry
    shown = (None, None) if event == original else (original.author_id, original.moment)
    return event.author_id, event.moment, *shown
