"""Describes and deletes an uploaded image that is not part of a post yet."""

from accounts.images.actions.place_files import try_to_place_files
from accounts.images.errors import ImageInUse, ImageNotFound
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one

DESCRIBE = """
UPDATE images_storedimage SET description = coalesce(%s, description),
    focus_x = coalesce(%s, focus_x), focus_y = coalesce(%s, focus_y)
WHERE owner_id = %s AND id = %s AND purpose = 0 AND used_by IS NULL AND remove_after > now()
"""
DELETE = """
UPDATE images_storedimage SET remove_after = now()
WHERE owner_id = %s AND id = %s AND purpose = 0 AND used_by IS NULL AND remove_after > now()
"""
IS_USED = """
SELECT 1 FROM images_storedimage WHERE owner_id = %s AND id = %s AND used_by IS NOT NULL
"""
Focus = tuple[float, float]


def describe_image(
    owner_id: int, image_id: int, description: str | None, focus: Focus | None
) -> None:
    """Changes what is not None. Raises: ImageNotFound. One statement."""
    values = (description, *(focus or (None, None)))
    if not execute(shard_of(owner_id), DESCRIBE, (*values, owner_id, image_id)):
        raise ImageNotFound


def delete_image(owner_id: int, image_id: int) -> None:
    """Deletes the image; its files go now, or by purge unused-images if the store is away.

    Raises: ImageInUse, ImageNotFound.
    """
    alias = shard_of(owner_id)
    if execute(alias, DELETE, (owner_id, image_id)):
        try_to_place_files(owner_id)
        return
    if fetch_one(alias, IS_USED, (owner_id, image_id)):
        raise ImageInUse
    raise ImageNotFound
