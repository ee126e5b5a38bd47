"""The changes relations emit. The owner is the follower, or whoever blocks or mutes."""

from typing import ClassVar

from infra.changes.registry import Payload


class EdgeChanged(Payload, frozen=True):
    """The forward edge owner → followee is no longer what it was; consumers read what it is.

    `before`/`after`: the versions of the owner's following list around this change.
    """

    kind: ClassVar[str] = "relations.edge_changed"

    followee_id: int
    before: int
    after: int


class MuteChanged(Payload, frozen=True):
    """What the owner mutes of the target is no longer what it was."""

    kind: ClassVar[str] = "relations.mute_changed"

    target_id: int
