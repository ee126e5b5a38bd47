"""Values of relations: the states of an edge, and what lists are made of."""

from enum import IntEnum
from typing import NamedTuple


class Attribute(IntEnum):
    """The state of a forward edge. Stored as a number; 0 is an edge that ended."""

    NONE = 0
    FOLLOW = 1


class Edge(NamedTuple):
    """One forward edge as its owner's shard has it. `since_ms`: Unix milliseconds of the follow."""

    attribute: Attribute
    revision: int
    since_ms: int


NO_EDGE = Edge(Attribute.NONE, 0, 0)


class Listed(NamedTuple):
    """A member of a following or followers list. Order: (since_ms, account_id), newest first."""

    since_ms: int
    account_id: int
