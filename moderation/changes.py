"""The changes that moderation emits."""

from typing import ClassVar

from infra.changes.registry import Payload


class PostDecided(Payload, frozen=True):
    """On the default database; owner: the author. The last act on the post says what it is now."""

    kind: ClassVar[str] = "moderation.post_decided"

    moment: int
