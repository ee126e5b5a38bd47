"""The changes that moderation emits."""

from typing import ClassVar

from infra.changes.registry import Payload


class PostDecided(Payload, frozen=True):
    """A moderator decided on a post. On the default database; owner: the author.

    The change does not carry the decision: consumers read the last decision on the post.
    """

    kind: ClassVar[str] = "moderation.post_decided"

    moment: int
