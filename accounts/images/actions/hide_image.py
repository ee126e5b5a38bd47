"""Hides an image or shows it again.

The addresses of a hidden image end: it gets another one, which only moderators see. It keeps that
one when it is shown again. actions/place_files.py moves the files.
"""

from datetime import datetime
from typing import NamedTuple

import msgspec

from accounts.images.file_names import FileNames, names_of, new_token
from accounts.images.types import ImageFacts, Purpose
from infra.sharding.sql import fetch_one

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
