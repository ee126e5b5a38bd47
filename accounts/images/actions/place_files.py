"""Keeps the files of images where they belong, or deletes them.

The files of an image that readers may get are at the address that posts and profiles have. Those of
a hidden post and of a suspended account are at a name that only moderators see, and come back from
there. The transaction that hides, shows or deletes writes what is wanted into the rows; this moves
or deletes the files right after it.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress

import msgspec
from django.db import transaction

from accounts.images.actions.remove_images import remove_images
from accounts.images.changes import ImageFilesLeft
from accounts.images.errors import ImagesUnavailable
from accounts.images.file_names import names_of
from accounts.images.store import move_files
from accounts.images.types import ImageFacts
from infra.changes.failpoints import failpoint
from infra.changes.registry import FollowUp
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one

# All files of a page must fit into one deadline of the store.
PAGE_SIZE = 20
_KNOWN = """
    withheld_token = coalesce(withheld_token, replace(gen_random_uuid()::text, '-', '')),
    public_token = coalesce(public_token, next_token, token)
"""
WITHHOLD_OF_POST = f"""
UPDATE images_storedimage SET of_hidden_post = %s, {_KNOWN}
WHERE owner_id = %s AND used_by = %s
"""  # noqa: S608
WITHHOLD_OF_ACCOUNTS = f"""
UPDATE images_storedimage SET of_suspended = wanted.is_suspended, {_KNOWN}
FROM unnest(%s::bigint[], %s::boolean[]) AS wanted (owner_id, is_suspended)
WHERE images_storedimage.owner_id = wanted.owner_id AND of_suspended <> wanted.is_suspended
"""  # noqa: S608
_PLACE = """CASE WHEN of_hidden_post OR of_suspended THEN withheld_token
    ELSE coalesce(public_token, token) END"""
_IS_LEFT = f"(remove_after <= now() OR next_token IS NOT NULL OR token <> {_PLACE})"
OWNERS_LEFT = f"""
SELECT DISTINCT owner_id FROM images_storedimage WHERE owner_id = ANY (%s) AND {_IS_LEFT}
"""  # noqa: S608
LEFT = f"""
SELECT id, CASE WHEN remove_after <= now() THEN now() END FROM images_storedimage
WHERE owner_id = %s AND {_IS_LEFT}
ORDER BY id LIMIT %s
"""  # noqa: S608
BEGIN = f"""
UPDATE images_storedimage SET next_token = {_PLACE}
WHERE owner_id = %s AND id = ANY (%s) AND next_token IS NULL AND token <> {_PLACE}
"""  # noqa: S608
LOCK = """
SELECT token, next_token, facts FROM images_storedimage
WHERE owner_id = %s AND id = %s AND next_token IS NOT NULL FOR UPDATE
"""
MOVED = """
UPDATE images_storedimage SET token = next_token, next_token = NULL
WHERE owner_id = %s AND id = %s
"""


def withhold_images_of_post(alias: str, owner_id: int, moment: int, is_hidden: bool) -> None:
    """Keeps the files of a post from readers, or gives them back. `place_files` does it.

    Safety: the caller's transaction hides or shows the post. One statement.
    """
    execute(alias, WITHHOLD_OF_POST, (is_hidden, owner_id, moment))


def withhold_images_of_accounts(alias: str, suspended: Iterable[tuple[int, bool]]) -> None:
    """As `withhold_images_of_post`, for all images of accounts that are suspended or not."""
    owners, are_suspended = ([*column] for column in zip(*suspended, strict=True))
    execute(alias, WITHHOLD_OF_ACCOUNTS, (owners, are_suspended))


def list_files_left(alias: str, owner_ids: Iterable[int]) -> list[FollowUp]:
    """A change for each of the accounts that has files to move or to delete, in a lane that a slow
    store may delay. One query by the owners' keys."""
    rows = fetch_all(alias, OWNERS_LEFT, (list(set(owner_ids)),))
    return [FollowUp(owner_id, ImageFilesLeft()) for (owner_id,) in rows]


def place_files(owner_id: int) -> bool:
    """Moves the files of up to twenty images to where they belong, and deletes those of unused
    ones. False: there were no more.

    Raises: ImagesUnavailable. Safety: idempotent. A process that dies leaves no file that no row
    names. Cost: a query; three statements and two calls of the store for images that are left.
    """
    alias = shard_of(owner_id)
    left = fetch_all(alias, LEFT, (owner_id, PAGE_SIZE))
    unused = [(owner_id, image_id) for image_id, now in left if now]
    if unused:
        remove_images(alias, unused, max(now for _, now in left if now))
    move_images(owner_id, [image_id for image_id, now in left if not now])
    return len(left) == PAGE_SIZE


def try_to_place_files(owner_id: int) -> None:
    """`place_files` for a request, whose change does it later if the store is away."""
    with suppress(ImagesUnavailable):
        place_files(owner_id)


def move_images(owner_id: int, image_ids: Sequence[int]) -> None:
    """Moves the files of these images to where they belong now.

    Raises: ImagesUnavailable. Safety: idempotent. The row names both places before the first file
    moves, until all have moved. Cost: a statement; two and a call of the store for each image that
    moves.
    """
    alias, waiting = shard_of(owner_id), list(image_ids)
    while waiting:
        execute(alias, BEGIN, (owner_id, waiting))
        # Another decision may have been taken while a file moved: then it moves on.
        waiting = [image_id for image_id in waiting if _move(alias, owner_id, image_id)]


def _move(alias: str, owner_id: int, image_id: int) -> bool:
    """False: the files were where they belong."""
    with transaction.atomic(using=alias):
        row = fetch_one(alias, LOCK, (owner_id, image_id))
        if row is None:
            return False
        token, next_token, facts = row
        decoded = msgspec.json.decode(facts, type=ImageFacts)
        old, new = (names_of(owner_id, image_id, name, decoded) for name in (token, next_token))
        move_files(dict(zip(old, new, strict=True)))
        failpoint("images.files_moved")
        execute(alias, MOVED, (owner_id, image_id))
    return True
