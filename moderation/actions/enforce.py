"""Carries out moderators' decisions on the shards of the posts and images."""

from collections.abc import Collection
from contextlib import suppress

from moderation.actions.hide_image import hide_image
from moderation.queries.decisions import load_last_decisions, load_last_image_decisions
from moderation.types import DecisionKind
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.errors import PostNotFound
from posts.ids import PostId


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
