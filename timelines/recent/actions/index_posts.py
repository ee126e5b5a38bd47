"""Writes one shard's recent-posts index."""

from collections.abc import Collection, Iterable, Sequence

from infra.sharding.sql import execute, fetch_one
from posts.ids import PostId
from timelines.types import Entry

# In key order, so that two writers of the same rows never wait for each other in a ring.
INSERT = """
INSERT INTO timelines_recentpost (author_id, moment, shown_author, shown_moment)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
ON CONFLICT DO NOTHING
"""


COUNT_LACKING = """
SELECT count(*) FROM unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
WHERE NOT EXISTS (
    SELECT FROM timelines_recentpost AS post
    WHERE post.author_id = one.author_id AND post.moment = one.moment)
"""
DELETE = """
DELETE FROM timelines_recentpost AS post
USING unnest(%s::bigint[], %s::bigint[]) AS one (author_id, moment)
WHERE post.author_id = one.author_id AND post.moment = one.moment
"""


def index_recent(alias: str, entries: Sequence[Entry]) -> int:
    """Adds entries to the index of this shard, whoever their authors are; returns how many lacked.

    Call it before you push an entry to any reader of this shard: a rebuild keeps what is pushed
    after it began, and pulls from here what was pushed before.
    Raises: OperationalError, InterfaceError when the shard does not answer; then push to none of
    its readers. Safety: may run again, in any order. Cost: one statement.
    """
    if not entries:
        return 0
    rows = [_row(entry) for entry in sorted(set(entries), key=_key)]
    return execute(alias, INSERT, [list(column) for column in zip(*rows, strict=True)])


def count_lacking(alias: str, entries: Sequence[Entry]) -> int:
    """How many of the entries `index_recent` would add. One query."""
    row = fetch_one(alias, COUNT_LACKING, _columns({entry.event for entry in entries}))
    return int(row[0])  # type: ignore[index]  # an aggregate


def remove_recent(alias: str, events: Iterable[PostId]) -> None:
    """Takes posts that are gone out of this shard's index. One statement."""
    execute(alias, DELETE, _columns(sorted(events)))


def _columns(events: Collection[PostId]) -> tuple[list[int], list[int]]:
    return [event.author_id for event in events], [event.moment for event in events]


def _key(entry: Entry) -> tuple[int, int]:
    return entry.event.author_id, entry.event.moment


def _row(entry: Entry) -> tuple[int, int, int | None, int | None]:
    event, original = entry
    shown = (None, None) if event == original else (original.author_id, original.moment)
    return event.author_id, event.moment, *shown
