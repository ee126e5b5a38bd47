"""Marks images as used or unused, inside the transaction of the caller.

Describes and deletes an uploaded image that is not part of a post yet.
"""

from collections.abc import Sequence

from accounts.images.actions.place_files import try_to_place_files
from accounts.images.errors import ImageInUse, ImageNotFound
from accounts.images.types import Purpose
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one

USE = """
UPDATE images_storedimage SET remove_after = NULL
WHERE owner_id = %s AND purpose = %s AND id = %s AND remove_after IS NOT NULL
"""
END = """
UPDATE images_storedimage SET remove_after = now() WHERE owner_id = %s AND id = %s
"""
END_OTHERS = """
UPDATE images_storedimage SET remove_after = now()
WHERE owner_id = %s AND purpose = %s AND id <> coalesce(%s, -1) AND remove_after IS NULL
"""
END_OF_POSTS = """
UPDATE images_storedimage SET remove_after = now()
FROM unnest(%s::bigint[], %s::bigint[]) AS gone (owner_id, used_by)
WHERE images_storedimage.owner_id = gone.owner_id AND images_storedimage.used_by = gone.used_by
    AND remove_after IS NULL
"""
# Not of images that are gone or part of a post.
RESERVE = """
UPDATE images_storedimage SET remove_after = greatest(remove_after, to_timestamp(%s / 1000.0))
WHERE owner_id = %s AND id = ANY(%s::bigint[]) AND purpose = 0
    AND used_by IS NULL AND remove_after > now() AND hidden_at IS NULL
"""
RELEASE = """
UPDATE images_storedimage SET remove_after = now() + interval '1 day'
WHERE owner_id = %s AND id = ANY(%s::bigint[]) AND used_by IS NULL AND remove_after > now()
"""


def reserve_images(alias: str, owner_id: int, image_ids: Sequence[int], until_ms: int) -> None:
    """Keeps uploads for a post that is written later, until then. The caller's transaction is on
    `alias`. Raises: ImageNotFound if one is gone, or has a post. One statement."""
    if execute(alias, RESERVE, (until_ms, owner_id, list(image_ids))) < len(image_ids):
        raise ImageNotFound


def release_images(alias: str, owner_id: int, image_ids: Sequence[int]) -> None:
    """Keeps uploads for another day only. Those that are gone are left out. One statement."""
    execute(alias, RELEASE, (owner_id, list(image_ids)))


def replace_image(alias: str, owner_id: int, purpose: Purpose, image_id: int | None) -> None:
    """Keeps this image of a profile, None for none, and ends the others with this purpose.

    The caller's transaction on `alias` refers to the image. Raises: ImageNotFound if it was removed
    in the meantime. Two statements.
    """
    execute(alias, END_OTHERS, (owner_id, purpose, image_id))
    if image_id is not None and not execute(alias, USE, (owner_id, purpose, image_id)):
        raise ImageNotFound


def end_images_of_posts(alias: str, posts: Sequence[tuple[int, int]]) -> None:
    """Lets `place_files` delete the images of these posts. `posts`: author, moment.

    Safety: idempotent. One statement.
    """
    owners, moments = [post[0] for post in posts], [post[1] for post in posts]
    execute(alias, END_OF_POSTS, (owners, moments))


def end_image(owner_id: int, image_id: int) -> None:
    """Ends one image of any purpose, for an account that is deleted. Safety: idempotent."""
    execute(shard_of(owner_id), END, (owner_id, image_id))


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
