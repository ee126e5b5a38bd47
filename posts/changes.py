"""The changes posts emit. The owner is the author, or whoever marks a post.

`before`/`after`: the versions of the author's list of posts around the change. `target`: of a
reply or a repost; what a post is about never changes.
"""

from typing import ClassVar

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
    """Moderators hid a post, or showed it again."""

    kind: ClassVar[str] = "posts.hidden"

    moment: int
    before: int
    after: int


class PostMarked(Payload, frozen=True):
    """The owner's mark of this kind on a post is no longer what it was."""

    kind: ClassVar[str] = "posts.marked"

    mark: int
    target_author: int
    target_moment: int
