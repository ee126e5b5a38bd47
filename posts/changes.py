"""The changes that posts emit. The owner is the author, or the account that marks a post.

`before`, `after`: the version of the author's list of posts before and after the change. `target`:
the post that a reply or repost is about; it never changes.
"""

from typing import ClassVar

from infra.changes.lanes import LaneGroup
from infra.changes.registry import Payload
from posts.types import Target


class PostCreated(Payload, frozen=True, omit_defaults=True):
    kind: ClassVar[str] = "posts.created"

    moment: int
    before: int
    after: int
    target: Target | None = None


class PostDeleted(Payload, frozen=True, omit_defaults=True):
    kind: ClassVar[str] = "posts.deleted"

    moment: int
    before: int
    after: int
    target: Target | None = None


class PostHidden(Payload, frozen=True):
    """Moderators hid a post or showed it again."""

    kind: ClassVar[str] = "posts.hidden"

    moment: int
    before: int
    after: int


class PostMarked(Payload, frozen=True):
    """The owner set or ended a viewer mark of this kind on a post."""

    kind: ClassVar[str] = "posts.marked"

    mark: int
    target_author: int
    target_moment: int


class ResponsesPostponed(Payload, frozen=True):
    """Responses to the owner's post changed, and its counts are still to be moved.

    The changes of many responses become one write of the counts. A replay leaves it out, because
    the posts and viewer marks are replayed.
    """

    kind: ClassVar[str] = "posts.responses_postponed"
    lanes: ClassVar[LaneGroup] = LaneGroup.FOLDED
    is_follow_up: ClassVar[bool] = True

    moment: int
