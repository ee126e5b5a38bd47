"""Carries out moderators' decisions on the shards of the posts and images.

Carries out a decision on an image: its row and what shows it, then its files.
"""

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.actions.update_profile import write_picture
from accounts.images.actions.place_files import move_images
from accounts.images.actions.remove_images import MarkedImage, mark_hidden
from accounts.images.types import Purpose
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from moderation.queries.decisions import load_last_decisions, load_last_image_decisions
from moderation.types import DecisionKind
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import change_media, hide_post
from posts.errors import PostNotFound
from posts.ids import PostId


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


def enforce_on_posts(decided: Collection[PostId]) -> None:
    """Hides, shows or deletes each post as the last decision on it says.

    Safety: idempotent. Cost: one query; one transaction a post on its author's shard.
    """
    for post_id, last in load_last_decisions(decided).items():
        if last.kind == DecisionKind.DELETE:
            with suppress(PostNotFound):  # an earlier run or its author deleted the post
                delete_post(post_id)
        else:
            hidden_at = last.created_at if last.kind == DecisionKind.HIDE else None
            hide_post(post_id, hidden_at, revision=last.pk)


def enforce_on_images(decided: Collection[int]) -> None:
    """Hides or shows each image as the last decision on it says, and moves its files.

    Safety: idempotent; a run completes what an earlier one left. Cost: one query; `hide_image` for
    each image.
    """
    for last in load_last_image_decisions(decided).values():
        hidden_at = last.created_at if last.kind == DecisionKind.HIDE else None
        hide_image(last.account_id, last.image_id or 0, hidden_at, revision=last.pk)
