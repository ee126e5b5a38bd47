"""The changes that relations emit. The owner is the account that follows, blocks or mutes."""

from collections.abc import Sequence
from typing import ClassVar

from counters.kinds import CounterKind
from infra.caller_acts import OwnAct
from infra.changes.lanes import LaneGroup
from infra.changes.registry import Delivery, Payload
from relations.types import Edge


class EdgeChanged(Payload, frozen=True):
    """The forward edge owner → followee changed; consumers read its present state.

    `before`/`after`: the versions of the owner's following list around this change.
    """

    kind: ClassVar[str] = "relations.edge_changed"

    followee_id: int
    before: int
    after: int

    def own_acts(self, owner_id: int) -> Sequence[OwnAct]:
        return [OwnAct(CounterKind.FOLLOWERS, self.followee_id)]


class FollowsImported(Payload, frozen=True):
    """An import wrote these forward edges, the nth follower's to the nth followee.

    The followers' accounts are on the database of the change, unless they moved since. The owner is
    one of them. Consumers read the present state of the edges.
    """

    kind: ClassVar[str] = "relations.follows_imported"
    lanes: ClassVar[LaneGroup] = LaneGroup.IMPORTED

    followers: tuple[int, ...] = ()
    followees: tuple[int, ...] = ()

    @property
    def pairs(self) -> Sequence[tuple[int, int]]:
        return list(zip(self.followers, self.followees, strict=True))


class RequestsLeft(Payload, frozen=True):
    """The owner is not locked any more. Its requests below this one are to be approved.

    A replay leaves it out, because the change of the profile is replayed.
    """

    kind: ClassVar[str] = "relations.requests_left"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    since_ms: int
    follower_id: int


class FollowersPostponed(Payload, frozen=True):
    """Followers of the owner changed, and their count is still to be moved.

    The changes of many followers become one write of the count. A replay leaves it out, because the
    edges are replayed.
    """

    kind: ClassVar[str] = "relations.followers_postponed"
    lanes: ClassVar[LaneGroup] = LaneGroup.FOLDED
    is_follow_up: ClassVar[bool] = True


def find_written_edges(
    deliveries: Sequence[Delivery[EdgeChanged]],
) -> dict[tuple[int, int], Edge] | None:
    """The edges by follower and followee, if the write of each delivery returned its edge."""
    edges = {
        (d.owner_id, d.payload.followee_id): d.written.edge
        for d in deliveries
        if d.written is not None
    }
    return edges if len(edges) == len(deliveries) else None


class MuteChanged(Payload, frozen=True):
    """The owner's mute of the target changed."""

    kind: ClassVar[str] = "relations.mute_changed"

    target_id: int


class ExclusiveMembersChanged(Payload, frozen=True):
    """These accounts came onto an exclusive list of the owner, or left one."""

    kind: ClassVar[str] = "relations.exclusive_members_changed"

    account_ids: tuple[int, ...]


class NoteChanged(Payload, frozen=True):
    """The owner's private note about the target changed."""

    kind: ClassVar[str] = "relations.note_changed"

    target_id: int
