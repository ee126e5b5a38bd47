"""Removes images that nothing uses: their files first, then their rows.

Hides an image or shows it again.

The addresses of a hidden image end: it gets another one, which only moderators see. It keeps that
one when it is shown again. actions/place_files.py moves the files.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec
from django.db import transaction

from accounts.images.file_names import FileNames, names_of, new_token
from accounts.images.metrics import REMOVED
from accounts.images.store import delete_files
from accounts.images.types import ImageFacts, Purpose
from infra.changes.failpoints import failpoint
from infra.jobs.walk import Row
from infra.sharding.sql import execute, fetch_all, fetch_one

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


MARK = """
UPDATE images_storedimage SET hidden_at = %s, hidden_revision = %s,
    public_token = coalesce(CASE WHEN hidden_at IS NULL THEN %s::text END, public_token)
WHERE owner_id = %s AND id = %s AND hidden_revision < %s
RETURNING purpose, coalesce(public_token, token), facts, used_by, remove_after IS NULL
"""


class MarkedImage(NamedTuple):
    """An image that was just hidden or shown. `moment`: of its post. `is_used`: by anything."""

    owner_id: int
    id: int
    is_hidden: bool
    purpose: Purpose
    token: str
    facts: ImageFacts
    moment: int | None
    is_used: bool

    @property
    def names(self) -> FileNames:
        return names_of(self.owner_id, self.id, self.token, self.facts)


def mark_hidden(
    alias: str, owner_id: int, image_id: int, hidden_at: datetime | None, revision: int
) -> MarkedImage | None:
    """Hides the image, or shows it (`hidden_at` None). None: its revision is not lower.

    Safety: the caller's transaction also changes what shows the image. One statement.
    """
    token = None if hidden_at is None else new_token()
    where = (owner_id, image_id)
    row = fetch_one(alias, MARK, (hidden_at, revision, token, *where, revision))
    if row is None:
        return None
    purpose, token, facts, moment, is_used = row
    decoded = msgspec.json.decode(facts, type=ImageFacts)
    is_hidden = hidden_at is not None
    return MarkedImage(*where, is_hidden, Purpose(purpose), token, decoded, moment, is_used)
