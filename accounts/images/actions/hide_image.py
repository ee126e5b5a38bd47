"""Hides an image or shows it again: the row first, then the files.

The addresses of a hidden image end: its files move to a name that only moderators see. They stay
under that name when it is shown again.
"""

from datetime import datetime
from typing import NamedTuple

import msgspec
from django.db import transaction

from accounts.images.file_names import FileNames, names_of, new_token
from accounts.images.store import move_files
from accounts.images.types import ImageFacts, Purpose
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one

MARK = """
UPDATE images_storedimage SET hidden_at = %s, hidden_revision = %s,
    next_token = CASE WHEN hidden_at IS NULL THEN %s ELSE next_token END
WHERE owner_id = %s AND id = %s AND hidden_revision < %s
    AND (%s::timestamptz IS NOT NULL OR next_token IS NULL)
RETURNING purpose, token, facts, used_by, remove_after IS NULL
"""
LOCK = """
SELECT token, next_token, facts FROM images_storedimage
WHERE owner_id = %s AND id = %s AND next_token IS NOT NULL FOR UPDATE
"""
MOVED = """
UPDATE images_storedimage SET token = next_token, next_token = NULL
WHERE owner_id = %s AND id = %s
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
    """Hides the image, or shows it (`hidden_at` None). None: its revision is not lower, or it is
    to be shown and its files are not at their next name yet.

    Safety: the caller's transaction also changes what shows the image. One statement.
    """
    token = None if hidden_at is None else new_token()
    where = (owner_id, image_id)
    row = fetch_one(alias, MARK, (hidden_at, revision, token, *where, revision, hidden_at))
    if row is None:
        return None
    purpose, token, facts, moment, is_used = row
    decoded = msgspec.json.decode(facts, type=ImageFacts)
    is_hidden = hidden_at is not None
    return MarkedImage(*where, is_hidden, Purpose(purpose), token, decoded, moment, is_used)


def move_hidden_files(owner_id: int, image_id: int) -> bool:
    """Moves the files of a hidden image to their next name. False: they are there.

    Raises: ImagesUnavailable. Safety: idempotent. The row names both places until all files have
    moved, so a process that dies leaves nothing that no row names. Cost: two statements and one
    call of the store.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        row = fetch_one(alias, LOCK, (owner_id, image_id))
        if row is None:
            return False
        token, next_token, facts = row
        decoded = msgspec.json.decode(facts, type=ImageFacts)
        old, new = (
            names_of(owner_id, image_id, name_token, decoded) for name_token in (token, next_token)
        )
        move_files(dict(zip(old, new, strict=True)))
        failpoint("images.files_moved")
        execute(alias, MOVED, (owner_id, image_id))
    return True
