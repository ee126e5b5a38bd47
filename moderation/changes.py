"""The changes that moderation emits."""

from typing import ClassVar

from infra.changes.registry import Payload


class ImageDecided(Payload, frozen=True):
    """A moderator decided on an image. On the default database; owner: the account.

    As PostDecided: consumers read the last decision on the image.
    """

    kind: ClassVar[str] = "moderation.image_decided"

    image_id: int


class PostDecided(Payload, frozen=True):
    """A moderator decided on a post. On the default database; owner: the author.

    The change does not carry the decision: consumers read the last decision on the post.
    """

    kind: ClassVar[str] = "moderation.post_decided"

    moment: int
