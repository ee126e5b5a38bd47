"""Deletes the files and rows of images that nothing uses."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

import msgspec
from django.db import transaction

from accounts.images.errors import ImagesUnavailable
from accounts.images.file_names import names_of
from accounts.images.metrics import REMOVED
from accounts.images.store import delete_files
from accounts.images.types import ImageFacts
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.sql import execute, fetch_all

# All files of a batch must fit into one deadline of the store.
BATCH_SIZE = 20
DUE = """
SELECT owner_id, id FROM images_storedimage
WHERE remove_after <= %(now)s
    AND (%(account)s::bigint IS NULL OR owner_id = %(account)s)
    AND (%(owner)s::bigint IS NULL OR (owner_id, id) > (%(owner)s, %(id)s))
ORDER BY owner_id, id LIMIT %(count)s
"""
# A post that takes the image at this moment wins: its row is locked, or not due any more.
LOCK = """
SELECT owner_id, id, token, facts, next_token FROM images_storedimage
JOIN unnest(%s::bigint[], %s::bigint[]) AS wanted (owner_id, id) USING (owner_id, id)
WHERE remove_after <= %s FOR UPDATE OF images_storedimage SKIP LOCKED
"""
DELETE = """
DELETE FROM images_storedimage WHERE (owner_id, id) IN (
    SELECT * FROM unnest(%s::bigint[], %s::bigint[]))
"""


def remove_unused_images(work: Work, now: datetime) -> Iterator[Batch]:
    """Deletes images that were unused at `now`: uploads without a post, and those of deleted posts.

    Files first, rows second: a process that dies in between leaves rows, and the next run finds
    them again. While the store of files is away, all rows stay and count as failed. Safety:
    idempotent. Cost: three statements and one call of the store a batch.
    """
    for piece in walk(work, partial(_read, work.account_id, now), key_length=2):
        done = len(piece.rows) if work.dry_run else _remove(piece.alias, piece.rows, now)
        failed = 0 if done is not None else len(piece.rows)
        seen = len(piece.rows) - failed
        yield Batch(seen, failed, piece.alias, done or 0, piece.position)


def _read(
    account_id: int | None, now: datetime, alias: str, after: Key | None, count: int
) -> list[Row]:
    owner_id, image_id = after or (None, None)
    params = {"now": now, "account": account_id, "owner": owner_id, "id": image_id, "count": count}
    return fetch_all(alias, DUE, params)


def _remove(alias: str, rows: Sequence[Row], now: datetime) -> int | None:
    """How many were removed; None: the store of files is away."""
    owners, ids = (list(column) for column in zip(*rows, strict=True))
    with transaction.atomic(using=alias):
        locked = fetch_all(alias, LOCK, (owners, ids, now))
        try:
            delete_files(name for row in locked for name in _names(row))
        except ImagesUnavailable:
            return None
        failpoint("images.files_deleted")
        gone = [list(column) for column in zip(*(row[:2] for row in locked), strict=True)]
        execute(alias, DELETE, gone or ([], []))
    REMOVED.inc(len(locked))
    return len(locked)


def _names(row: Row) -> list[str]:
    """Also the names to which the files of a hidden image were moving."""
    owner_id, image_id, token, facts, next_token = row
    decoded = msgspec.json.decode(facts, type=ImageFacts)
    tokens = (token, next_token) if next_token else (token,)
    return [n for token in tokens for n in names_of(owner_id, image_id, token, decoded).distinct]
