"""What moderators did."""

from collections.abc import Iterable

from moderation.models import Decision
from moderation.types import POST_DECISIONS
from posts.ids import PostId


def load_last_decisions(post_ids: Iterable[PostId]) -> dict[PostId, Decision]:
    """The last act on each post that there was any on. One query."""
    acts = (
        Decision.objects.filter(post_id__in=[i.public for i in post_ids], act__in=POST_DECISIONS)
        .order_by("post_id", "-id")
        .distinct("post_id")
    )
    return {PostId.from_public(act.post_id): act for act in acts}
