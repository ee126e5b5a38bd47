"""Carries out moderators' decisions on posts and images, and tells accounts of decisions."""

from collections.abc import Sequence

from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, FollowUp, consumes
from moderation.actions.enforce import enforce_on_images, enforce_on_posts
from moderation.actions.notify_of_strikes import mail_strikes, notify_of_strikes
from moderation.changes import ImageDecided, PostDecided, StrikeMailLeft, StrikeRecorded
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


@consumes(StrikeRecorded)
def notify_of_decisions(
    alias: str, deliveries: Sequence[Delivery[StrikeRecorded]]
) -> list[FollowUp]:
    """Notifies the accounts that the decisions are about, and orders their mails.

    Safety and cost: as `notify_of_strikes`.
    """
    follow_ups = notify_of_strikes({delivery.payload.decision_id for delivery in deliveries})
    mails = [FollowUp(d.owner_id, StrikeMailLeft(d.payload.decision_id)) for d in deliveries]
    return [*follow_ups, *mails]


@consumes(StrikeMailLeft)
def send_strike_mails(alias: str, deliveries: Sequence[Delivery[StrikeMailLeft]]) -> None:
    """Sends the mails about decisions, in a lane that a slow server may delay.

    Safety, cost and what it raises: as `mail_strikes`.
    """
    mail_strikes({delivery.payload.decision_id for delivery in deliveries})
