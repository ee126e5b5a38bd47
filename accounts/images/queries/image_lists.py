"""The images of an account, for moderators: also hidden ones, and uploads without a post."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from accounts.images.file_names import FileNames, names_of
from accounts.images.types import ImageFacts, Purpose
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all

LIST = """
SELECT owner_id, id, purpose, token, facts, description, used_by, created_at, hidden_at
FROM images_storedimage
WHERE owner_id = %(owner)s AND (remove_after IS NULL OR remove_after > now())
    AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))
    AND (%(before)s::timestamptz IS NULL OR created_at < %(before)s)
ORDER BY created_at DESC LIMIT %(count)s
"""


class ListedImage(NamedTuple):
    """An image for moderators. `moment`: of the post that has it; None for other images."""

    owner_id: int
    id: int
    purpose: Purpose
    names: FileNames
    description: str
    moment: int | None
    created_at: datetime
    hidden_at: datetime | None


def list_images(owner_id: int, count: int, before: datetime | None = None) -> list[ListedImage]:
    """The account's newest images, uploaded before `before`. One query by the owner's key.

    An account has some hundred images, so they are sorted without an index.
    """
    return _read({"owner": owner_id, "ids": None, "before": before, "count": count})


def find_image(owner_id: int, image_id: int) -> ListedImage | None:
    """One image; None if there is none, or if it is about to be removed. One query by key."""
    return load_images(owner_id, [image_id]).get(image_id)


def load_images(owner_id: int, image_ids: Sequence[int]) -> dict[int, ListedImage]:
    """Images of one account by id; those that are about to be removed are missing. One query."""
    where = {"owner": owner_id, "ids": list(image_ids), "before": None, "count": len(image_ids)}
    return {image.id: image for image in _read(where)}


def _read(params: dict[str, object]) -> list[ListedImage]:
    rows = fetch_all(shard_of(int(str(params["owner"]))), LIST, params)
    return [_image_of(*row) for row in rows]


def _image_of(
    owner_id: int, image_id: int, purpose: int, token: str, facts: str, *more: object
) -> ListedImage:
    names = names_of(owner_id, image_id, token, msgspec.json.decode(facts, type=ImageFacts))
    return ListedImage(owner_id, image_id, Purpose(purpose), names, *more)  # type: ignore[arg-type]
