"""Values of relations: the states of an edge, its flags, and what lists are made of."""

from enum import IntEnum, IntFlag
from typing import NamedTuple


class Attribute(IntEnum):
    """The state of a forward edge (seed S2). Stored as a number; 0 is an edge that ended."""

    NONE = 0
    FOLLOW = 1
    WHISPER = 2  # a quiet follow
    BLACK = 3  # a block


class Flag(IntFlag):
    """What a follow may carry beside its attribute; gone when it ends. Stored as a number."""

    NOTHING = 0
    SPECIAL = 1
    HIDES_REPOSTS = 2
    NOTIFIES = 4


FOLLOWING = frozenset((Attribute.FOLLOW, Attribute.WHISPER))


class Edge(NamedTuple):
    """One forward edge as its owner's shard has it. `since_ms`: Unix milliseconds of its begin."""

    attribute: Attribute
    revision: int
    since_ms: int
    flags: Flag = Flag.NOTHING

    @property
    def is_follow(self) -> bool:
        """Open or quiet."""
        return self.attribute in FOLLOWING


NO_EDGE = Edge(Attribute.NONE, 0, 0)


class Mute(NamedTuple):
    """What an account does not want to see of another. `until_ms`: Unix milliseconds; 0: no end."""

    is_on: bool
    hides_notifications: bool
    revision: int
    since_ms: int
    until_ms: int

    def holds_at(self, now_ms: int) -> bool:
        return self.is_on and (self.until_ms == 0 or now_ms < self.until_ms)


NO_MUTE = Mute(False, False, 0, 0, 0)


class FollowWish(NamedTuple):
    """What a follow shall be like; None leaves it as it is, or at its default."""

    quiet: bool | None = None
    special: bool | None = None
    reposts: bool | None = None
    notify: bool | None = None


PLAIN = FollowWish()


class Listed(NamedTuple):
    """A member of a following or followers list. Order: (since_ms, account_id), newest first."""

    since_ms: int
    account_id: int
