"""Reads an uploaded image that is not part of a post yet."""

from collections.abc import Sequence

import msgspec

from accounts.images.errors import ImageNotFound
from accounts.images.sql import ATTACHMENT
from accounts.images.types import Attachment
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one

_decode = msgspec.json.Decoder(Attachment).decode
UNATTACHED = f"""
SELECT {ATTACHMENT} FROM images_storedimage
WHERE owner_id = %s AND id = %s AND purpose = 0 AND used_by IS NULL AND remove_after > now()
    AND hidden_at IS NULL
"""  # noqa: S608


BY_ID = f"""
SELECT {ATTACHMENT} FROM images_storedimage
WHERE owner_id = %s AND id = ANY(%s::bigint[]) AND purpose = 0
    AND (remove_after IS NULL OR remove_after > now() AND hidden_at IS NULL)
"""  # noqa: S608


def load_attachments(owner_id: int, image_ids: Sequence[int]) -> list[Attachment]:
    """Images of the owner for a post, in this order.

    Some may have a post already: images_attach decides whether it is the same one. Raises:
    ImageNotFound if one is another account's or removed. One query by primary key.
    """
    images = load_existing_attachments(owner_id, image_ids)
    if len(images) != len(image_ids):
        raise ImageNotFound
    return [images[image_id] for image_id in image_ids]


def load_existing_attachments(owner_id: int, image_ids: Sequence[int]) -> dict[int, Attachment]:
    """As `load_attachments`, without those that are not there. One query by primary key."""
    rows = fetch_all(shard_of(owner_id), BY_ID, (owner_id, list(image_ids)))
    return {image.id: image for (text,) in rows for image in [_decode(text)]}


def get_unattached(owner_id: int, image_id: int) -> Attachment:
    """The image. Raises: ImageNotFound. One query by primary key."""
    row = fetch_one(shard_of(owner_id), UNATTACHED, (owner_id, image_id))
    if row is None:
        raise ImageNotFound
    return _decode(row[0])
