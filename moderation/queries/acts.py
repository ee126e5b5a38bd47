"""What moderators did."""

from collections.abc import Iterable

from moderation.models import ModerationAct
from moderation.types import ON_POSTS
from posts.ids import PostId


def load_last_acts(post_ids: Iterable[PostId]) -> dict[PostId, ModerationAct]:
    """The last act on each post that there was any on. One query."""
    acts = (
        ModerationAct.objects.filter(post_id__in=[i.public for i in post_ids], act__in=ON_POSTS)
        .order_by("post_id", "-id")
        .distinct("post_id")
    )
    return {PostId.from_public(act.post_id): act for act in acts}
