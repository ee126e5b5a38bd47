"""Entries as rows of timelines_entry, and the statements that add and read them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from posts.ids import SEQUENCES
from timelines.types import PACKED_ENTRY, Entry

Columns = list[list[Any]]

# A number (`which`) joins each reader to the reader's entries, so that one post for thousands of
# readers is sent once. In key order, so that two writers of the same rows cannot deadlock.
PUSH = """
WITH live AS (
    SELECT reader_id, which FROM unnest(%s::bigint[], %s::int[]) AS wanted (reader_id, which)
    JOIN timelines_head AS head USING (reader_id) WHERE head.read_at > now() - %s * interval '1 day'
), added AS (
    INSERT INTO timelines_entry
    SELECT reader_id, second, author_id, sequence, shown_author, shown_moment
    FROM live JOIN unnest(%s::int[], %s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[],
        %s::bigint[]) AS entry (which, second, author_id, sequence, shown_author, shown_moment)
        USING (which)
    ORDER BY reader_id, second, author_id, sequence
    ON CONFLICT DO NOTHING
)
SELECT count(*) FROM live
"""
ADD = """
INSERT INTO timelines_entry
SELECT %s::bigint, entry.* FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[],
    %s::bigint[]) AS entry (second, author_id, sequence, shown_author, shown_moment)
ORDER BY second, author_id, sequence
ON CONFLICT DO NOTHING
"""
# From each reader's head to the reader's range of the key: newest first, at most `limit` rows.
READ = f"""
SELECT head.reader_id, GREATEST(head.complete_from, %(floor)s), head.following_version,
    head.read_at < now() - interval '1 day', entry.*
FROM timelines_head AS head LEFT JOIN LATERAL (
    SELECT second, author_id, sequence, COALESCE(shown_moment / {SEQUENCES}, second),
        COALESCE(shown_author, author_id), COALESCE(shown_moment %% {SEQUENCES}, sequence)
    FROM timelines_entry AS entry WHERE entry.reader_id = head.reader_id
        AND second >= GREATEST(head.complete_from, %(floor)s)
    ORDER BY second DESC, author_id DESC, sequence DESC LIMIT %(limit)s
) AS entry ON true
WHERE head.reader_id = ANY(%(readers)s) AND head.complete_from IS NOT NULL
    AND head.read_at > now() - %(days)s * interval '1 day' AND head.epoch >= %(first_epoch)s
"""  # noqa: S608


def entry_columns(entries: Iterable[Entry]) -> Columns:
    """Columns second, author_id, sequence, shown_author, shown_moment; the last two null unless a
    repost."""
    rows = [_row(entry) for entry in entries]
    return [list(column) for column in zip(*rows, strict=True)] or [[], [], [], [], []]


def push_params(pushed: Mapping[int, Sequence[Entry]], days: int) -> list[Any]:
    """The parameters of PUSH. Readers who get the same object share its rows."""
    numbers: dict[int, int] = {}
    distinct: list[Sequence[Entry]] = []
    for entries in pushed.values():
        if numbers.setdefault(id(entries), len(distinct)) == len(distinct):
            distinct.append(entries)
    which = [numbers[id(entries)] for entries in pushed.values()]
    numbered = [n for n, entries in enumerate(distinct) for _ in entries]
    columns = entry_columns(entry for entries in distinct for entry in entries)
    return [list(pushed), which, days, numbered, *columns]


def packed_of(rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
    """The packed entries in rows of READ, oldest first."""
    return sorted(PACKED_ENTRY.pack(*row[4:]) for row in rows if row[4] is not None)


def _row(entry: Entry) -> tuple[int, int, int, int | None, int | None]:
    event, original = entry
    if event == original:
        return *event, None, None
    return *event, original.author_id, original.moment
