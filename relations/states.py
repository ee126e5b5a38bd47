"""The state machine of a forward edge (seed S2): `NEXT` has the next state.

A follow of a locked account would begin, and needs approval: then it becomes REQUESTED instead of
FOLLOW, and REQUESTED_QUIETLY instead of WHISPER. APPROVE and REJECT are the followee's answers.

FOLLOW, WHISPER and the requests may carry SPECIAL and the other flags. FRIEND (mutual) is two
opposite follows; it is computed from both edges and never stored.

A revision is two numbers, so that no block is missed, however soon an unblock came after it:

    bits 22-62  when the edge last became a block, or ceased to be one: milliseconds since EPOCH_MS,
                always more than before; 0: never
    bits 0-21   how often it has changed since
"""

from collections.abc import Mapping
from enum import Enum, auto

from relations.errors import CannotFollowBlocked
from relations.types import (
    FOLLOWS,
    NO_OPTIONS,
    REQUESTS,
    Attribute,
    Edge,
    EdgeFlag,
    FollowOptions,
)

EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z; 41 bits last until 2095
BLOCK_STEP = 1 << 22


class Transition(Enum):
    FOLLOW = auto()
    MAKE_QUIET = auto()
    MAKE_OPEN = auto()
    UNFOLLOW = auto()
    BLOCK = auto()
    UNBLOCK = auto()
    APPROVE = auto()
    REJECT = auto()


_NONE, _FOLLOW, _WHISPER, _BLACK, _ASKED, _ASKED_QUIETLY = Attribute
NEXT: Mapping[Attribute, Mapping[Transition, Attribute | None]] = {
    state: dict(zip(Transition, row, strict=True))
    for state, row in {
        _NONE: (_FOLLOW, _WHISPER, _FOLLOW, _NONE, _BLACK, _NONE, _NONE, _NONE),
        _FOLLOW: (_FOLLOW, _WHISPER, _FOLLOW, _NONE, _BLACK, _FOLLOW, _FOLLOW, _FOLLOW),
        _WHISPER: (_WHISPER, _WHISPER, _FOLLOW, _NONE, _BLACK, _WHISPER, _WHISPER, _WHISPER),
        _BLACK: (None, None, None, _BLACK, _BLACK, _NONE, _BLACK, _BLACK),
        _ASKED: (_FOLLOW, _WHISPER, _FOLLOW, _NONE, _BLACK, _ASKED, _FOLLOW, _NONE),
        _ASKED_QUIETLY: (
            _WHISPER, _WHISPER, _FOLLOW, _NONE, _BLACK, _ASKED_QUIETLY, _WHISPER, _NONE,
        ),
    }.items()
}  # fmt: skip
# The request in the place of a follow that needs approval.
REQUEST_FOR: Mapping[Attribute, Attribute] = {_FOLLOW: _ASKED, _WHISPER: _ASKED_QUIETLY}


def transition_of(options: FollowOptions) -> Transition:
    """The transition that a follow with these options makes."""
    if options.quiet is None:
        return Transition.FOLLOW
    return Transition.MAKE_QUIET if options.quiet else Transition.MAKE_OPEN


def step(
    edge: Edge,
    transition: Transition,
    now_ms: int,
    options: FollowOptions = NO_OPTIONS,
    needs_approval: bool = False,
) -> Edge:
    """The edge after a transition: the same object, or a new one with the next revision. Pure.

    `needs_approval`: a follow that would begin becomes a request. `since_ms` stays while a follow
    stays a follow, and a request a request. Any other new state begins at `now_ms`.
    Raises: CannotFollowBlocked.
    """
    attribute = NEXT[edge.attribute][transition]
    if attribute is None:
        raise CannotFollowBlocked
    if needs_approval and not edge.is_follow:
        attribute = REQUEST_FOR.get(attribute, attribute)
    goes_on = attribute is edge.attribute or any(
        {edge.attribute, attribute} <= kept for kept in (FOLLOWS, REQUESTS)
    )
    has_flags = attribute in FOLLOWS or attribute in REQUESTS
    flags = _flags(edge.flags, options) if has_flags else EdgeFlag.NOTHING
    languages = edge.languages if options.languages is None else options.languages
    languages = tuple(languages) if has_flags else ()
    if attribute is edge.attribute and (flags, languages) == (edge.flags, edge.languages):
        return edge
    since_ms = edge.since_ms if goes_on or attribute is Attribute.NONE else now_ms
    if Attribute.BLACK in (attribute, edge.attribute):
        return Edge(attribute, next_block_revision(edge.revision, now_ms), since_ms, flags)
    return Edge(attribute, edge.revision + 1, since_ms, flags, languages)


def last_block_turn(edge: Edge) -> int:
    """When the edge became a block or ceased to be one, in milliseconds since EPOCH_MS; 0: never.

    A reader that knew a smaller number has missed a block, or its end.
    """
    return edge.revision // BLOCK_STEP


def ends_follow(opposite: Edge, old: Edge, new: Edge) -> bool:
    """Whether a block ends the opposite follow or request, now that its shard learns of the block.

    `old`: the edge as that shard knew it. `new`: the edge as it is. A block that was over before
    the follow began does not end it.
    """
    is_live = opposite.is_follow or opposite.is_request
    if not is_live or last_block_turn(new) <= last_block_turn(old):
        return False
    ended_ms = EPOCH_MS + last_block_turn(new)
    return new.attribute is Attribute.BLACK or opposite.since_ms < ended_ms


def as_seen_by_followee(edge: Edge, opposite: Edge) -> Edge:
    """The edge as the followee's side shows it; `opposite` is the followee's own edge.

    A follow of an account that blocks the follower has ended for the blocker, before the follower's
    shard ends it. So has a request. The revision stays, so that the end itself is mirrored as a
    newer change.
    """
    if opposite.attribute is Attribute.BLACK and (edge.is_follow or edge.is_request):
        return Edge(Attribute.NONE, edge.revision, edge.since_ms)
    return edge


def next_block_revision(revision: int, now_ms: int) -> int:
    """The revision after this one, when the edge becomes a block or ceases to be one."""
    return max(revision // BLOCK_STEP + 1, now_ms - EPOCH_MS) * BLOCK_STEP


def _flags(flags: EdgeFlag, options: FollowOptions) -> EdgeFlag:
    hides = None if options.reposts is None else not options.reposts
    wanted = {
        EdgeFlag.SPECIAL: options.special,
        EdgeFlag.HIDES_REPOSTS: hides,
        EdgeFlag.NOTIFIES: options.notify,
        EdgeFlag.ENDORSED: options.endorsed,
    }
    for flag, is_on in wanted.items():
        if is_on is not None:
            flags = flags | flag if is_on else flags & ~flag
    return flags
