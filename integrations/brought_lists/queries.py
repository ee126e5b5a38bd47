"""How far a brought file is, and what became of its lines. From the owner's shard."""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from integrations.brought_lists.types import (
    BroughtKind,
    BroughtLine,
    BroughtProgress,
    LineState,
)

PROGRESS = f"""
SELECT kind, lines, count(row) FILTER (WHERE state = {LineState.DONE:d}),
    count(row) FILTER (WHERE state = {LineState.REFUSED:d}), started_at, finished_at, goes_on_at
FROM integrations_broughtfile AS file
LEFT JOIN integrations_broughtrow AS row USING (owner_id) WHERE owner_id = %s GROUP BY file.owner_id
"""  # noqa: S608
LINES = """
SELECT number, cells, state, reason FROM integrations_broughtrow
WHERE owner_id = %s AND (NOT %s OR state = 2) ORDER BY number LIMIT %s
"""


def find_progress(owner_id: int) -> BroughtProgress | None:
    """Of the account's last file. One query of at most MOST_LINES rows by key."""
    row = fetch_one(shard_of(owner_id), PROGRESS, (owner_id,))
    return None if row is None else BroughtProgress(BroughtKind(row[0]), *row[1:])


def list_lines(owner_id: int, most: int, only_refused: bool = False) -> list[BroughtLine]:
    """The first lines of the file, in their order. One query by key."""
    rows = fetch_all(shard_of(owner_id), LINES, (owner_id, only_refused, most))
    return [BroughtLine(row[0], row[1], LineState(row[2]), row[3]) for row in rows]
