"""Marks images as used or unused, inside the transaction of the caller."""

from collections.abc import Sequence

from accounts.images.errors import ImageNotFound
from accounts.images.types import Purpose
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

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
