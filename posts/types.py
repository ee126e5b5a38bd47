"""Values of posts."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Self

import msgspec

from posts.ids import PostId


class Kind(IntEnum):
    """The kind of a post, or of a viewer mark. Stored as a number.

    0-2 are posts and have ids of their own. 3 and 4 are viewer marks: rows of the account that
    leaves them on a post.
    """

    POST = 0
    REPLY = 1
    REPOST = 2
    FAVOURITE = 3
    BOOKMARK = 4


class Visibility(IntEnum):
    """Which accounts may see a post. Stored as a number; only PUBLIC is written today."""

    PUBLIC = 0
    UNLISTED = 1
    PRIVATE = 2
    DIRECT = 3


class Target(NamedTuple):
    """The post that a reply or a repost is about. `kind` is REPLY or REPOST. Never changes."""

    kind: int
    author_id: int
    moment: int

    @property
    def post_id(self) -> PostId:
        return PostId.at(self.author_id, self.moment)

    @classmethod
    def of(cls, kind: int, author_id: int | None, moment: int | None) -> Self | None:
        """The target from the three columns; None for a plain post."""
        if author_id is None or moment is None:
            return None
        return cls(kind, author_id, moment)


class PostRow(NamedTuple):
    """A post as read from its shard. The queries of posts.queries.rows return these columns."""

    author_id: int
    moment: int
    text: str
    sensitive: bool
    spoiler_text: str
    language: str | None
    kind: int = Kind.POST
    target_author: int | None = None
    target_moment: int | None = None

    @property
    def target(self) -> Target | None:
        return Target.of(self.kind, self.target_author, self.target_moment)


class WrittenPost(NamedTuple):
    """What a write of a post returned. `row`: None if it deleted the post.

    `counts`: of the author, for counters.cache.entry_of. `at_s`: on the monotonic clock.
    """

    row: PostRow | None
    counts: Sequence[int]
    at_s: float


class Draft(msgspec.Struct, frozen=True):
    """A post that an author wants to publish, validated by `posts.actions.check_draft`."""

    text: str
    sensitive: bool = False
    spoiler_text: str = ""
    language: str | None = None
    in_reply_to: PostId | None = None


class ResponseRow(NamedTuple):
    """One reply, repost or favourite of a post, as stored on the shard of the post's author.

    `reply_moment` tells several replies of one responder apart; it is 0 for reposts and
    favourites. `at` gives the order, newest highest: the moment of a reply or repost, the Unix
    milliseconds of a favourite.
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
