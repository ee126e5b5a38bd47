"""Carries out moderators' decisions on posts."""

from collections.abc import Sequence
from contextlib import suppress

from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from moderation.changes import PostDecided
from moderation.queries.decisions import load_last_decisions
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
