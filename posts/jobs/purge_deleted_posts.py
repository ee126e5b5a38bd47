"""Deletes the tombstones of posts that were deleted long ago."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.sql import fetch_all

RETENTION_DAYS = 30
TOMBSTONES = """
SELECT author_id, moment FROM posts_post
WHERE deleted_at IS NOT NULL AND deleted_at < %(before)s
    AND (%(account)s::bigint IS NULL OR author_id = %(account)s)
    AND (%(author)s::bigint IS NULL OR (author_id, moment) > (%(author)s, %(moment)s))
ORDER BY author_id, moment LIMIT %(count)s
"""
# An author's newest post stays: the next id is made from it. A post with a live favourite, repost
# or reply stays: undoing these needs the row. 9, 10: Kind.QUOTE, Kind.CLOSED_QUOTE.
PURGEABLE = """
SELECT author_id, moment FROM posts_post AS post
JOIN unnest(%(authors)s::bigint[], %(moments)s::bigint[]) AS wanted (author_id, moment)
    USING (author_id, moment)
WHERE deleted_at IS NOT NULL
    AND EXISTS (
        SELECT 1 FROM posts_post AS newer
        WHERE newer.author_id = post.author_id AND newer.moment > post.moment
    )
    AND NOT EXISTS (
        SELECT 1 FROM posts_response AS response
        WHERE response.author_id = post.author_id AND response.moment = post.moment AND is_on
            AND response.kind NOT IN (9, 10)
    )
"""
DELETE = f"""
DELETE FROM posts_post WHERE (author_id, moment) IN ({PURGEABLE}) RETURNING author_id, moment
"""  # noqa: S608


def purge_deleted_posts(work: Work, before: datetime) -> Iterator[Batch]:
    """Deletes the tombstones of posts that were deleted before `before`, in batches.

    A tombstone has only the id; the texts were removed at the deletion. Readers treat a missing row
    as a deleted post. Safety: idempotent. Cost: two statements a batch, by index.
    """
    for piece in walk(work, partial(_read, work.account_id, before), key_length=2):
        purged = _purge(piece.alias, piece.rows, work.dry_run)
        yield Batch(len(piece.rows), 0, piece.alias, len(purged), piece.position)


def _read(
    account_id: int | None, before: datetime, alias: str, after: Key | None, count: int
) -> list[Row]:
    author_id, moment = after or (None, None)
    params = {"before": before, "account": account_id, "author": author_id, "moment": moment}
    return fetch_all(alias, TOMBSTONES, params | {"count": count})


def _purge(alias: str, rows: Sequence[Row], is_dry: bool) -> list[Row]:
    authors, moments = zip(*rows, strict=True)
    params = {"authors": list(authors), "moments": list(moments)}
    return fetch_all(alias, PURGEABLE if is_dry else DELETE, params)
