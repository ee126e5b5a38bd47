"""The changes that notifications emit: follow-up changes of events with many recipients."""

from typing import ClassVar

from infra.changes.lanes import LaneGroup
from infra.changes.registry import Payload
from posts.types import Kind
from relations.types import ListedAccount


class NotificationsAdded(Payload, frozen=True):
    """The owner, a recipient who has a subscription to Web Push, got notifications with these ids.

    A replay leaves it out. Rows whose messages were sent are marked, so they are not sent again.
    """

    kind: ClassVar[str] = "notifications.added"
    lanes: ClassVar[LaneGroup] = LaneGroup.OUTSIDE
    is_follow_up: ClassVar[bool] = True

    ids: tuple[int, ...]


class SubscribersLeft(Payload, frozen=True):
    """Followers of the owner, older than `below`, are to be notified of a new post of the owner.

    `thread`: author and moment of the first post of its thread.
    """

    kind: ClassVar[str] = "notifications.subscribers_left"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    moment: int
    thread: tuple[int, int]
    created_ms: int
    below: ListedAccount | None = None


class QuotingLeft(Payload, frozen=True):
    """Authors of posts that quote an edited post of the owner are to be notified.

    Of the responses of this kind, those after this account and moment are left. `edited_ms`: when
    the post was edited.
    """

    kind: ClassVar[str] = "notifications.quoting_left"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    moment: int
    edited_ms: int
    of_kind: int = Kind.QUOTE.value
    after: int = 0
    after_moment: int = 0


class VotersLeft(Payload, frozen=True):
    """Voters on the poll of the owner's post, above `after`, are to be notified of its end."""

    kind: ClassVar[str] = "notifications.voters_left"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    moment: int
    after: int
