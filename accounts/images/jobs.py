"""Deletes the files and rows of images that nothing uses."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from accounts.images.actions.remove_images import remove_images
from accounts.images.errors import ImagesUnavailable
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.sql import fetch_all

# All files of a batch must fit into one deadline of the store.
BATCH_SIZE = 20
DUE = """
SELECT owner_id, id FROM images_storedimage
WHERE remove_after <= %(now)s
    AND (%(account)s::bigint IS NULL OR owner_id = %(account)s)
    AND (%(owner)s::bigint IS NULL OR (owner_id, id) > (%(owner)s, %(id)s))
ORDER BY owner_id, id LIMIT %(count)s
"""


def remove_unused_images(work: Work, now: datetime) -> Iterator[Batch]:
    """Deletes images that were unused at `now`: uploads without a post, and those of deleted posts.

    Files first, rows second: a process that dies in between leaves rows, and the next run finds
    them again. While the store of files is away, all rows stay and count as failed. Safety:
    idempotent. Cost: three statements and one call of the store a batch.
    """
    for piece in walk(work, partial(_read, work.account_id, now), key_length=2):
        done = failed = 0
        try:
            done = len(piece.rows) if work.dry_run else remove_images(piece.alias, piece.rows, now)
        except ImagesUnavailable:
            failed = len(piece.rows)
        yield Batch(len(piece.rows) - failed, failed, piece.alias, done, piece.position)


def _read(
    account_id: int | None, now: datetime, alias: str, after: Key | None, count: int
) -> list[Row]:
    owner_id, image_id = after or (None, None)
    params = {"now": now, "account": account_id, "owner": owner_id, "id": image_id, "count": count}
    return fetch_all(alias, DUE, params)
