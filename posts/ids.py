"""Post ids (seed S0): three facts in one number, in two orders, and packed in 10 bytes.

facts      second   seconds since EPOCH          6 base36 digits   4 bytes
           author   account id                   6 base36 digits   4 bytes
           sequence nth of the author's second   2 base36 digits   2 bytes

base36     second author sequence   14 digits, sorts by time; names in Redis and in rows
public     the number of `base36`   decimal, at least 15 digits; what the API and cursors show
routed     author second sequence   14 digits, one author's posts are one range; names its shard
packed     second author sequence   big-endian, what timelines store
moment     second * 1296 + sequence one number, orders one author's posts; the table's key

A text of exactly 14 characters is base36, any other length is decimal (ADR 0033).

EPOCH      2006-01-01T00:00:00Z; six digits of seconds last until 2074-12-24T05:45:35Z
example    PostId(1, 2, 3): base36 00000100000203, routed 00000200000103, moment 1299
           public 002821109910051
"""

import struct
from collections.abc import Iterable
from typing import NamedTuple, Self

from infra.api import base36
from infra.api.ids import MAX_ACCOUNT_ID, parse_number

# 2006-01-01T00:00:00Z in Unix seconds: before the posts that other systems may bring (ADR 0077).
# functions.sql and two 0001_initial have it as a number.
EPOCH = 1_136_073_600
SEQUENCES = 36**2
MAX_SECOND = 36**6 - 1
PACKED_BYTES = 10
BASE36_DIGITS = 14
# Numbers of one author's second, and of one second.
_AUTHOR, _SECOND = SEQUENCES, SEQUENCES * (MAX_ACCOUNT_ID + 1)
_PACKED = struct.Struct(">IIH")


class MalformedPostId(ValueError):
    """The text is not a post id."""


class PostId(NamedTuple):
    """Compares in page order: by second, then author, then sequence."""

    second: int
    author_id: int
    sequence: int

    @property
    def number(self) -> int:
        """Compares in page order."""
        return self.second * _SECOND + self.author_id * _AUTHOR + self.sequence

    @property
    def public(self) -> str:
        """Never 14 characters long, so it cannot be taken for base36."""
        return f"{self.number:015d}"

    @property
    def base36(self) -> str:
        """Compares as text in page order."""
        return base36.encode(self.number, BASE36_DIGITS)

    @property
    def routed(self) -> str:
        text = self.base36
        return text[6:12] + text[:6] + text[12:]

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
    def from_number(cls, number: int) -> Self:
        """From a number between those of FIRST and LAST."""
        second, in_second = divmod(number, _SECOND)
        return cls(second, *divmod(in_second, _AUTHOR))

    @classmethod
    def from_public(cls, text: str) -> Self:
        """From either text form. Raises MalformedPostId."""
        number = _parse(text)
        if number > _MOST:
            raise MalformedPostId(text)
        return cls.from_number(number)

    @classmethod
    def from_cursor(cls, text: str) -> Self:
        """As from_public; numbers above the last id mean the last id. Raises MalformedPostId."""
        return cls.from_number(min(_parse(text), _MOST))

    @classmethod
    def from_base36(cls, text: str) -> Self:
        """From 14 base36 digits. Raises MalformedPostId."""
        if len(text) != BASE36_DIGITS:
            raise MalformedPostId(text)
        return cls.from_number(_parse(text))

    @classmethod
    def from_routed(cls, text: str) -> Self:
        """Raises MalformedPostId."""
        return cls.from_base36(text[6:12] + text[:6] + text[12:])

    @classmethod
    def from_packed(cls, data: bytes, offset: int = 0) -> Self:
        return cls(*_PACKED.unpack_from(data, offset))


def unpack_ids(data: bytes) -> list[PostId]:
    """The ids that were packed one after another."""
    return [PostId(*fields) for fields in _PACKED.iter_unpack(data)]


def _parse(text: str) -> int:
    try:
        return parse_number(text, BASE36_DIGITS)
    except ValueError:
        raise MalformedPostId(text) from None


def authors_of(ids: Iterable[PostId]) -> set[int]:
    return {post_id.author_id for post_id in ids}


FIRST = PostId(0, 0, 0)
LAST = PostId(MAX_SECOND, MAX_ACCOUNT_ID, SEQUENCES - 1)
_MOST = LAST.number


def id_after(post_id: PostId) -> PostId:
    """The next id in page order; of LAST, LAST."""
    return PostId.from_number(min(post_id.number + 1, _MOST))


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
