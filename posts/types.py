"""Values of posts."""

from enum import IntEnum
from typing import NamedTuple, Self

import msgspec

from posts.ids import PostId


class Kind(IntEnum):
    """What somebody does to be seen, or with another's post. Stored as a number.

    0-2 are posts, with ids of their own; 3 and 4 are marks that an account leaves on a post.
    """

    POST = 0
    REPLY = 1
    REPOST = 2
    FAVOURITE = 3
    BOOKMARK = 4


class Target(NamedTuple):
    """Whose post a reply or a repost is about, and which of the two it is. Never changes."""

    kind: int
    author_id: int
    moment: int

    @property
    def post_id(self) -> PostId:
        return PostId.at(self.author_id, self.moment)

    @classmethod
    def of(cls, kind: int, author_id: int | None, moment: int | None) -> Self | None:
        """As the columns have it; None of a plain post."""
        if author_id is None or moment is None:
            return None
        return cls(kind, author_id, moment)


class Draft(msgspec.Struct, frozen=True):
    """What an author wants to publish; already validated (`posts.actions.check_draft`)."""

    text: str
    sensitive: bool = False
    spoiler_text: str = ""
    language: str | None = None
    in_reply_to: PostId | None = None


class Response(NamedTuple):
    """What a responder did with a post, as the post's own shard has it.

    `reply_moment` tells replies of one responder apart, 0 for others. `at`: their order, newest
    highest: the moment of a reply or repost, the Unix milliseconds of a favourite.
    """

    author_id: int
    moment: int
    kind: int
    responder_id: int
    reply_moment: int
    at: int
    revision: int
    is_on: bool

    @property
    def identity(self) -> tuple[int, int, int, int, int]:
        return self[:5]

    @property
    def post_id(self) -> PostId:
        return PostId.at(self.author_id, self.moment)
