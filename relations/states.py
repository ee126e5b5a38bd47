"""The state machine of a forward edge (seed S2): which act leads from which state to which.

            FOLLOW    MAKE_QUIET  MAKE_OPEN  UNFOLLOW  BLOCK   UNBLOCK
    NONE    FOLLOW    WHISPER     FOLLOW     NONE      BLACK   NONE
    FOLLOW  FOLLOW    WHISPER     FOLLOW     NONE      BLACK   FOLLOW
    WHISPER WHISPER   WHISPER     FOLLOW     NONE      BLACK   WHISPER
    BLACK   refused   refused     refused    BLACK     BLACK   NONE

SPECIAL and the other flags live on FOLLOW and WHISPER. FRIEND (mutual) is two follows that face
each other; it is read off both edges and stored nowhere.

A revision is two numbers, so that a block is never missed, however soon an unblock came after it:

    bits 24-62  how often the edge has become a block
    bits 0-23   how often it has changed since
"""

from collections.abc import Mapping
from enum import Enum, auto

from relations.errors import CannotFollowBlocked
from relations.types import FOLLOWS, NO_OPTIONS, Attribute, Edge, EdgeFlag, FollowOptions

BLOCK_STEP = 1 << 24


class Transition(Enum):
    FOLLOW = auto()
    MAKE_QUIET = auto()
    MAKE_OPEN = auto()
    UNFOLLOW = auto()
    BLOCK = auto()
    UNBLOCK = auto()


_NONE, _FOLLOW, _WHISPER, _BLACK = Attribute
NEXT: Mapping[Attribute, Mapping[Transition, Attribute | None]] = {
    state: dict(zip(Transition, row, strict=True))
    for state, row in {
        _NONE: (_FOLLOW, _WHISPER, _FOLLOW, _NONE, _BLACK, _NONE),
        _FOLLOW: (_FOLLOW, _WHISPER, _FOLLOW, _NONE, _BLACK, _FOLLOW),
        _WHISPER: (_WHISPER, _WHISPER, _FOLLOW, _NONE, _BLACK, _WHISPER),
        _BLACK: (None, None, None, _BLACK, _BLACK, _NONE),
    }.items()
}


def transition_of(wish: FollowOptions) -> Transition:
    if wish.quiet is None:
        return Transition.FOLLOW
    return Transition.MAKE_QUIET if wish.quiet else Transition.MAKE_OPEN


def step(edge: Edge, act: Transition, now_ms: int, wish: FollowOptions = NO_OPTIONS) -> Edge:
    """The edge after an act: itself, or with the next revision. Pure.

    The date stays while a follow stays a follow, and begins anew with everything else.
    Raises: CannotFollowBlocked.
    """
    attribute = NEXT[edge.attribute][act]
    if attribute is None:
        raise CannotFollowBlocked
    goes_on = attribute is edge.attribute or (edge.is_follow and attribute in FOLLOWS)
    flags = _flags(edge.flags, wish) if attribute in FOLLOWS else EdgeFlag.NOTHING
    if attribute is edge.attribute and flags == edge.flags:
        return edge
    since_ms = edge.since_ms if goes_on or attribute is Attribute.NONE else now_ms
    return Edge(attribute, _next_revision(edge.revision, attribute), since_ms, flags)


def count_blocks(edge: Edge) -> int:
    """How often this edge has become a block. Whoever knew fewer has missed one."""
    return edge.revision // BLOCK_STEP


def as_seen_by_followee(edge: Edge, facing: Edge) -> Edge:
    """The edge as its followee has it whose own edge to the follower is `facing`.

    A follow that faces a block has ended for the one who blocks, before the follower's shard has
    heard of it. The revision stays: the end itself will be news.
    """
    if facing.attribute is Attribute.BLACK and edge.is_follow:
        return Edge(Attribute.NONE, edge.revision, edge.since_ms)
    return edge


def _next_revision(revision: int, attribute: Attribute) -> int:
    if attribute is Attribute.BLACK:
        return (revision // BLOCK_STEP + 1) * BLOCK_STEP
    return revision + 1


def _flags(flags: EdgeFlag, wish: FollowOptions) -> EdgeFlag:
    hides = None if wish.reposts is None else not wish.reposts
    wanted = {
        EdgeFlag.SPECIAL: wish.special,
        EdgeFlag.HIDES_REPOSTS: hides,
        EdgeFlag.NOTIFIES: wish.notify,
    }
    for flag, is_on in wanted.items():
        if is_on is not None:
            flags = flags | flag if is_on else flags & ~flag
    return flags
