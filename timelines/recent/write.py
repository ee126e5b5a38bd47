"""Writes one shard's recent-posts index."""

from collections.abc import Sequence

from infra.sharding.sql import execute
from timelines.types import Entry

# In key order, so that two writers of the same rows never wait for each other in a ring.
INSERT = """
INSERT INTO timelines_recentpost (author_id, moment, shown_author, shown_moment)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
ON CONFLICT DO NOTHING
"""


def index_recent(alias: str, entries: Sequence[Entry]) -> None:
    """Adds entries to the index of this shard, whoever their authors are.

    Call it before you push an entry to any reader of this shard: a rebuild keeps what is pushed
    after it began, and pulls from here what was pushed before (timelines/queries/rebuild.py).
    Raises: OperationalError, InterfaceError when the shard does not answer; then push to none of
    its readers. Safety: may run again, in any order. Cost: one statement.
    """
    if entries:
        rows = [_row(entry) for entry in sorted(set(entries), key=_key)]
        execute(alias, INSERT, [list(column) for column in zip(*rows, strict=True)])


def _key(entry: Entry) -> tuple[int, int]:
    return entry.event.author_id, entry.event.moment


def _row(entry: Entry) -> tuple[int, int, int | None, int | None]:
    event, original = entry
    shown = (None, None) if event == original else (original.author_id, original.moment)
    return event.author_id, event.moment, *shown
