"""Post ids (seed S0): three facts in 14 base36 digits, in two orders, and packed in 10 bytes.

facts      second   seconds since EPOCH          6 digits   4 bytes
           author   account id                   6 digits   4 bytes
           sequence nth of the author's second   2 digits   2 bytes

public     second author sequence   sorts by time; what the API and cursors show
routed     author second sequence   one author's posts are one range; names its shard
packed     second author sequence   big-endian, what timelines store
moment     second * 1296 + sequence one number, orders one author's posts; the table's key

EPOCH      2026-01-01T00:00:00Z; six digits of seconds last until 2094-12-24T05:45:35Z
example    PostId(1, 2, 3): public 00000100000203, routed 00000200000103, moment 1299
"""

import struct
from collections.abc import Iterable
from typing import NamedTuple, Self

from infra.api import base36
from infra.api.ids import MAX_ACCOUNT_ID

EPOCH = 1_767_225_600  # 2026-01-01T00:00:00Z, Unix seconds
SEQUENCES = 36**2
MAX_SECOND = 36**6 - 1
PACKED_BYTES = 10
PUBLIC_CHARACTERS = 14
_PACKED = struct.Struct(">IIH")


class MalformedPostId(ValueError):
    """The text is not a post id."""


class PostId(NamedTuple):
    """Compares in page order: by second, then author, then sequence."""

    second: int
    author_id: int
    sequence: int

    @property
    def public(self) -> str:
        return (
            base36.encode(self.second, 6)
            + base36.encode(self.author_id, 6)
            + base36.encode(self.sequence, 2)
        )

    @property
    def routed(self) -> str:
        public = self.public
        return public[6:12] + public[:6] + public[12:]

    @property
    def packed(self) -> bytes:
        return _PACKED.pack(*self)

    @property
    def moment(self) -> int:
        return self.second * SEQUENCES + self.sequence

    @property
    def posted_at_s(self) -> int:
        """Unix seconds."""
        return EPOCH + self.second

    @classmethod
    def at(cls, author_id: int, moment: int) -> Self:
        return cls(moment // SEQUENCES, author_id, moment % SEQUENCES)

    @classmethod
    def from_public(cls, text: str) -> Self:
        """Raises MalformedPostId."""
        if len(text) != PUBLIC_CHARACTERS:
            raise MalformedPostId(text)
        try:
            numbers = [base36.decode(part) for part in (text[:6], text[6:12], text[12:])]
        except ValueError:
            raise MalformedPostId(text) from None
        return cls(*numbers)

    @classmethod
    def from_routed(cls, text: str) -> Self:
        """Raises MalformedPostId."""
        return cls.from_public(text[6:12] + text[:6] + text[12:])

    @classmethod
    def from_packed(cls, data: bytes, offset: int = 0) -> Self:
        return cls(*_PACKED.unpack_from(data, offset))


def authors_of(ids: Iterable[PostId]) -> set[int]:
    return {post_id.author_id for post_id in ids}


FIRST = PostId(0, 0, 0)
LAST = PostId(MAX_SECOND, MAX_ACCOUNT_ID, SEQUENCES - 1)


def moment_below(bound: PostId, author_id: int) -> int:
    """The least moment of this author whose post is not older than `bound` in page order.

    Posts of the author with a smaller moment are exactly those before `bound`.
    """
    if author_id == bound.author_id:
        return bound.moment
    return (bound.second + (author_id < bound.author_id)) * SEQUENCES


def moment_after(bound: PostId, author_id: int) -> int:
    """The least moment of this author whose post is newer than `bound` in page order."""
    return moment_below(bound, author_id) + (author_id == bound.author_id)


def second_of(unix_s: float) -> int:
    """Seconds since EPOCH. Raises OverflowError outside the years six digits can hold."""
    second = int(unix_s) - EPOCH
    if not 0 <= second <= MAX_SECOND:
        raise OverflowError(f"{unix_s} is outside the years post ids can hold")
    return second
