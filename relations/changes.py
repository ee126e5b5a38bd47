"""The changes that relations emit. The owner is the account that follows, blocks or mutes."""

from typing import ClassVar

from infra.changes.lanes import LaneGroup
from infra.changes.registry import Payload


class EdgeChanged(Payload, frozen=True):
    """The forward edge owner → followee changed; consumers read its present state.

    `before`/`after`: the versions of the owner's following list around this change.
    """

    kind: ClassVar[str] = "relations.edge_changed"

    followee_id: int
    before: int
    after: int


class FollowersPostponed(Payload, frozen=True):
    """Followers of the owner changed, and their count is still to be moved.

    The changes of many followers become one write of the count. A replay leaves it out, because the
    edges are replayed.
    """

    kind: ClassVar[str] = "relations.followers_postponed"
    lanes: ClassVar[LaneGroup] = LaneGroup.FOLDED
    is_follow_up: ClassVar[bool] = True


class MuteChanged(Payload, frozen=True):
    """The owner's mute of the target changed."""

    kind: ClassVar[str] = "relations.mute_changed"

    target_id: int
