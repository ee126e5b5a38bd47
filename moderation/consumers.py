"""Carries out moderators' decisions on posts and images."""

from collections.abc import Sequence

from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from moderation.actions.enforce import enforce_on_images, enforce_on_posts
from moderation.changes import ImageDecided, PostDecided
from posts.ids import PostId


@consumes(PostDecided, inline=True)
def enforce_decisions(alias: str, deliveries: Sequence[Delivery[PostDecided]]) -> None:
    """Hides, shows or deletes each post as the last decision on it says.

    Safety and cost: as `enforce_on_posts`.
    """
    failpoint("moderation.before_enforcing")
    enforce_on_posts(
        {PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries}
    )


@consumes(ImageDecided, inline=True)
def enforce_image_decisions(alias: str, deliveries: Sequence[Delivery[ImageDecided]]) -> None:
    """Hides or shows each image as the last decision on it says, and moves its files.

    Safety and cost: as `enforce_on_images`.
    """
    enforce_on_images({delivery.payload.image_id for delivery in deliveries})
