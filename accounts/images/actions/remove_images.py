"""Removes images that nothing uses: their files first, then their rows."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from django.db import transaction

from accounts.images.file_names import names_of
from accounts.images.metrics import REMOVED
from accounts.images.store import delete_files
from accounts.images.types import ImageFacts
from infra.changes.failpoints import failpoint
from infra.jobs.walk import Row
from infra.sharding.sql import execute, fetch_all

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


def remove_images(alias: str, rows: Sequence[Row], now: datetime) -> int:
    """Removes images that are unused at `now`; how many. `rows`: owners and ids.

    Raises: ImagesUnavailable. Safety: idempotent. Cost: two statements, one call of the store.
    """
    owners, ids = (list(column) for column in zip(*rows, strict=True))
    with transaction.atomic(using=alias):
        locked = fetch_all(alias, LOCK, (owners, ids, now))
        delete_files(name for row in locked for name in _names(row))
        failpoint("images.files_deleted")
        gone = [list(column) for column in zip(*(row[:2] for row in locked), strict=True)]
        execute(alias, DELETE, gone or ([], []))
    REMOVED.inc(len(locked))
    return len(locked)


def _names(row: Row) -> list[str]:
    """Also the names to which the files were moving."""
    owner_id, image_id, token, facts, next_token = row
    decoded = msgspec.json.decode(facts, type=ImageFacts)
    tokens = (token, next_token) if next_token else (token,)
    return [n for token in tokens for n in names_of(owner_id, image_id, token, decoded).distinct]
