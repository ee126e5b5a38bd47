"""Carries out a decision on an image: its row and what shows it, then its files."""

from datetime import datetime

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.actions.update_profile import write_picture
from accounts.images.actions.place_files import move_images
from accounts.images.actions.remove_images import MarkedImage, mark_hidden
from accounts.images.types import Purpose
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from posts.actions.change_media import change_media


def hide_image(owner_id: int, image_id: int, hidden_at: datetime | None, revision: int) -> None:
    """Hides an image everywhere, or shows it (`hidden_at` None). The next read of every page obeys.

    A higher revision wins. No account gets a hidden image, not even its owner, and its old address
    ends. Raises: AccountNotFound; ImagesUnavailable while the store is away: then the pages are
    without the image, and a second call moves the files. Safety: idempotent. Cost: a transaction of
    at most seven statements on the owner's shard, one of two, and a call of the store.
    """
    # What is shown again must be at its new name, which an earlier decision may have left.
    move_images(owner_id, [image_id])
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        marked = mark_hidden(alias, owner_id, image_id, hidden_at, revision)
        if marked is not None:
            _write_uses(alias, marked)
    failpoint("moderation.image_marked")
    move_images(owner_id, [image_id])


def _write_uses(alias: str, image: MarkedImage) -> None:
    if image.purpose is Purpose.POST:
        if image.moment is not None:
            change_media(
                alias, image.owner_id, image.moment, image.id, image.token, image.is_hidden
            )
    elif image.is_used:
        shown = "" if image.is_hidden else image.names.original
        write_picture(alias, image.owner_id, image.purpose, shown)
