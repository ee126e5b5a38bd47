"""The changes posts emit. The owner is the author.

`before`/`after`: the versions of the author's list of posts around the change.
"""

from typing import ClassVar

from infra.changes.registry import Payload


class PostCreated(Payload, frozen=True):
    kind: ClassVar[str] = "posts.created"

    moment: int
    before: int
    after: int


class PostDeleted(Payload, frozen=True):
    kind: ClassVar[str] = "posts.deleted"

    moment: int
    before: int
    after: int
