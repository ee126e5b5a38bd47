"""Carries out moderators' decisions on posts and images."""

from collections.abc import Sequence
from contextlib import suppress

from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from moderation.actions.hide_image import hide_image
from moderation.changes import ImageDecided, PostDecided
from moderation.queries.decisions import load_last_decisions, load_last_image_decisions
from moderation.types import DecisionKind
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.errors import PostNotFound
from posts.ids import PostId


@consumes(PostDecided, inline=True)
def enforce_decisions(alias: str, deliveries: Sequence[Delivery[PostDecided]]) -> None:
    """Hides, shows or deletes each post as the last decision on it says.

    Safety: idempotent. Cost: one query; one transaction a post on its author's shard.
    """
    failpoint("moderation.before_enforcing")
    decided = {PostId.at(one.owner_id, one.payload.moment) for one in deliveries}
    for post_id, last in load_last_decisions(decided).items():
        if last.kind == DecisionKind.DELETE:
            with suppress(PostNotFound):  # an earlier run or its author deleted the post
                delete_post(post_id)
        else:
            hidden_at = last.created_at if last.kind == DecisionKind.HIDE else None
            hide_post(post_id, hidden_at, revision=last.pk)


@consumes(ImageDecided, inline=True)
def enforce_image_decisions(alias: str, deliveries: Sequence[Delivery[ImageDecided]]) -> None:
    """Hides or shows each image as the last decision on it says, and moves its files.

    Safety: idempotent; a run completes what an earlier one left. Cost: one query; `hide_image` for
    each image.
    """
    for last in load_last_image_decisions({one.payload.image_id for one in deliveries}).values():
        hidden_at = last.created_at if last.kind == DecisionKind.HIDE else None
        hide_image(last.account_id, last.image_id or 0, hidden_at, revision=last.pk)
