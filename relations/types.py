"""Values of relations: edges, mutes, relationships, and the items of edge lists."""

from collections.abc import Sequence
from enum import IntEnum, IntFlag
from functools import lru_cache
from typing import NamedTuple, Self


class RelationKind(IntEnum):
    """What an edge or a mute relates. Part of each primary key, so that a kind can be added."""

    ACCOUNT = 0  # two accounts; the only kind so far


class Attribute(IntEnum):
    """The state of a forward edge (seed S2). Stored as a number; 0 is an edge that ended."""

    NONE = 0
    FOLLOW = 1
    WHISPER = 2  # a quiet follow
    BLACK = 3  # a block
    REQUESTED = 4  # a follow that awaits the approval of a locked account
    REQUESTED_QUIETLY = 5  # as REQUESTED; the approved follow is a quiet one


class EdgeFlag(IntFlag):
    """Properties of a follow, or of a request for one. They end with it. Stored as a number."""

    NOTHING = 0
    SPECIAL = 1
    HIDES_REPOSTS = 2
    NOTIFIES = 4
    ENDORSED = 8  # shown on the follower's profile; the largest flag, so an index can compare


# All flags with NOTIFIES, as the condition of an index lists them.
NOTIFYING_FLAGS = [flags for flags in range(2 * EdgeFlag.ENDORSED) if flags & EdgeFlag.NOTIFIES]
# Most relationships are one of a few values: a cache lookup is cheaper than unpacking a number.
CACHED_RELATIONSHIPS = 4_096
FOLLOWS = frozenset((Attribute.FOLLOW, Attribute.WHISPER))
REQUESTS = frozenset((Attribute.REQUESTED, Attribute.REQUESTED_QUIETLY))


class Edge(NamedTuple):
    """One edge as a shard has it. `since_ms`: when its state began, in Unix milliseconds.

    `languages`: of which the follower wants posts, as codes; none: of all. Only the follower's
    shard has them.
    """

    attribute: Attribute
    revision: int
    since_ms: int
    flags: EdgeFlag = EdgeFlag.NOTHING
    languages: Sequence[str] = ()

    @property
    def mirrored(self) -> "tuple[int, int, int, int]":
        """What both sides have: attribute, revision, since_ms, flags."""
        return int(self.attribute), self.revision, self.since_ms, int(self.flags)

    @property
    def is_follow(self) -> bool:
        """Open or quiet."""
        return self.attribute in FOLLOWS

    @property
    def is_request(self) -> bool:
        """It awaits approval."""
        return self.attribute in REQUESTS


# Of a follow. More than the languages that people read.
MOST_LANGUAGES = 40
NO_EDGE = Edge(Attribute.NONE, 0, 0)


class WrittenEdge(NamedTuple):
    """What a write of a forward edge returned.

    `counts`: of the follower, for counters.cache.entry_of.
    """

    edge: Edge
    counts: Sequence[int]


class Mute(NamedTuple):
    """One account's mute of another. `until_ms`: Unix milliseconds; 0: no end."""

    is_on: bool
    hides_notifications: bool
    revision: int
    since_ms: int
    until_ms: int

    def holds_at(self, now_ms: int) -> bool:
        return self.is_on and (self.until_ms == 0 or now_ms < self.until_ms)


NO_MUTE = Mute(False, False, 0, 0, 0)


class Relationship(NamedTuple):
    """A viewer's relationship with another account, as the viewer's shard has it.

    `mine`, `flags`: the viewer's edge. `theirs`: the state of the other account's edge to the
    viewer. `has_note`: the viewer keeps a private note about them. `is_exclusive`: the viewer
    follows them on an exclusive list only, so not at home. `languages`: the viewer wants posts of
    these only; none: of all. Cached as a number, and a full stop behind it. Between them is a colon
    with `!` for is_exclusive and the languages, if there are any: a release that does not know them
    reads such a relationship from the shard.

        bits 0-2  mine      3-6   flags           7-9   theirs
        bit  10   is_muted  11    mutes_notices   12    has_note    13-   muted_until_ms
        example   a quiet, special follow of a follower who is muted without end: 1162
        example   a follow on an exclusive list, of two languages: 1:!en,pt-BR
    """

    mine: Attribute = Attribute.NONE
    flags: EdgeFlag = EdgeFlag.NOTHING
    theirs: Attribute = Attribute.NONE
    is_muted: bool = False
    mutes_notices: bool = False
    muted_until_ms: int = 0
    has_note: bool = False
    is_exclusive: bool = False
    languages: tuple[str, ...] = ()

    @classmethod
    def of_rows(
        cls, mine: int, flags: int, theirs: int, *mute: int,
        has_note: bool = False, is_exclusive: bool = False,
        languages: Sequence[str] | None = None,
    ) -> Self:  # fmt: skip
        """From columns of the rows. Equal for all rows that mean the same to the viewer: an ended
        mute leaves no trace, and a block removes the follows and requests in both directions.
        """
        if Attribute.BLACK in (mine, theirs):
            mine, theirs = (a if a == Attribute.BLACK else Attribute.NONE for a in (mine, theirs))
            flags, is_exclusive, languages = EdgeFlag.NOTHING, False, None
        edges = Attribute(mine), EdgeFlag(flags), Attribute(theirs)
        if mine not in FOLLOWS | REQUESTS:
            languages = None  # a release that does not know them may have ended the follow
        is_muted, mutes_notices, until_ms = mute
        muted = (True, bool(mutes_notices), until_ms) if is_muted else (False, False, 0)
        return cls(*edges, *muted, has_note, is_exclusive, tuple(languages or ()))._shared()

    @lru_cache(CACHED_RELATIONSHIPS)  # noqa: B019 - they are values, and few
    def _shared(self) -> Self:
        """One object for all that are equal: a process keeps many, and each takes 112 bytes."""
        return self

    @property
    def packed(self) -> bytes:
        """A number and a full stop, so that a value that lost its end is not another value."""
        mute = self.is_muted << 10 | self.mutes_notices << 11 | self.muted_until_ms << 13
        edges = self.mine | self.flags << 3 | self.theirs << 7
        number = edges | mute | self.has_note << 12
        if not (self.languages or self.is_exclusive):
            return b"%d." % number
        more = "!" * self.is_exclusive + ",".join(self.languages)
        return b"%d:%b." % (number, more.encode())

    @classmethod
    @lru_cache(CACHED_RELATIONSHIPS)
    def from_packed(cls, text: bytes) -> Self:
        """Raises ValueError for anything but the text of `packed`."""
        digits, colon, more = text[:-1].partition(b":")
        if not (text.endswith(b".") and digits.isdigit() and bool(more) == bool(colon)):
            raise ValueError("not a packed relationship")
        number, languages = int(digits), more.removeprefix(b"!")
        return cls(
            Attribute(number & 7), EdgeFlag(number >> 3 & 15), Attribute(number >> 7 & 7),
            bool(number >> 10 & 1), bool(number >> 11 & 1), number >> 13, bool(number >> 12 & 1),
            more.startswith(b"!"), tuple(languages.decode().split(",")) if languages else (),
        )  # fmt: skip

    @property
    def is_followed(self) -> bool:
        return self.mine in FOLLOWS

    @property
    def follows_me(self) -> bool:
        return self.theirs in FOLLOWS

    @property
    def is_requested(self) -> bool:
        """Whether the viewer asked to follow them."""
        return self.mine in REQUESTS

    @property
    def asks_me(self) -> bool:
        """Whether they asked to follow the viewer."""
        return self.theirs in REQUESTS

    def is_muted_at(self, now_ms: int) -> bool:
        return self.is_muted and (self.muted_until_ms == 0 or now_ms < self.muted_until_ms)


UNRELATED = Relationship()


class FollowOptions(NamedTuple):
    """Options of a follow. None: keep the value, or use the default."""

    quiet: bool | None = None
    special: bool | None = None
    reposts: bool | None = None
    notify: bool | None = None
    endorsed: bool | None = None
    languages: Sequence[str] | None = None


NO_OPTIONS = FollowOptions()


class ListedAccount(NamedTuple):
    """A member of a following or followers list. Order: (since_ms, account_id), newest first."""

    since_ms: int
    account_id: int
