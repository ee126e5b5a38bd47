"""The changes that moderation emits."""

from typing import ClassVar

from infra.changes.lanes import LaneGroup
from infra.changes.registry import Payload


class ImageDecided(Payload, frozen=True):
    """A moderator decided on an image. On the default database; owner: the account.

    As PostDecided: consumers read the last decision on the image.
    """

    kind: ClassVar[str] = "moderation.image_decided"

    image_id: int


class StrikeRecorded(Payload, frozen=True):
    """Moderators decided about an account, and the account can read it. On the default database;
    owner: the account."""

    kind: ClassVar[str] = "moderation.strike_recorded"

    decision_id: int


class StrikeMailLeft(Payload, frozen=True):
    """The owner's mail about a decision is left to be sent. On the default database.

    The decision notes that it was sent, so a replay of what caused it sends none.
    """

    kind: ClassVar[str] = "moderation.strike_mail_left"
    lanes: ClassVar[LaneGroup] = LaneGroup.OUTSIDE
    is_follow_up: ClassVar[bool] = True

    decision_id: int


class PostDecided(Payload, frozen=True):
    """A moderator decided on a post. On the default database; owner: the author.

    The change does not carry the decision: consumers read the last decision on the post.
    """

    kind: ClassVar[str] = "moderation.post_decided"

    moment: int
