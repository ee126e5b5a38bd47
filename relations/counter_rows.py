"""Which counts an edge is part of, and which rows those counts are the numbers of."""

from collections.abc import Iterator, Mapping, Sequence

from counters.kinds import CounterKind
from counters.registry import CountedRows, register_counted_rows
from counters.types import CountMove
from relations.sql import BACKWARD_TABLE, FORWARD_TABLE, KIND
from relations.types import Attribute, Edge

Kinds = Mapping[Attribute, Sequence[CounterKind]]

# By the state of the edge: counts of the follower, on the follower's shard.
FORWARD_KINDS: Kinds = {
    Attribute.NONE: (),
    Attribute.FOLLOW: (CounterKind.FOLLOWING,),
    Attribute.WHISPER: (CounterKind.FOLLOWING, CounterKind.QUIET_FOLLOWING),
    Attribute.BLACK: (CounterKind.BLOCKED,),
    Attribute.REQUESTED: (CounterKind.SENT_REQUESTS,),
    Attribute.REQUESTED_QUIETLY: (CounterKind.SENT_REQUESTS,),
}
# By the state of the edge: counts of the followee, on the followee's shard.
BACKWARD_KINDS: Kinds = {
    Attribute.NONE: (),
    Attribute.FOLLOW: (CounterKind.FOLLOWERS,),
    Attribute.WHISPER: (CounterKind.FOLLOWERS, CounterKind.QUIET_FOLLOWERS),
    Attribute.BLACK: (),
    Attribute.REQUESTED: (CounterKind.FOLLOW_REQUESTS,),
    Attribute.REQUESTED_QUIETLY: (CounterKind.FOLLOW_REQUESTS,),
}


def iter_moves(
    kinds: Kinds, list_kind: CounterKind, owner_id: int, old: Edge, new: Edge
) -> Iterator[CountMove]:
    """The moves of one edge's counts, and one by zero for the version of the list it is on."""
    yield CountMove(owner_id, list_kind, 0)
    for kind in kinds[old.attribute]:
        yield CountMove(owner_id, kind, -1)
    for kind in kinds[new.attribute]:
        yield CountMove(owner_id, kind, +1)


def _register(table: str, owner: str, kinds: Kinds) -> None:
    for kind in dict.fromkeys(kind for counted in kinds.values() for kind in counted):
        states = ", ".join(f"{state:d}" for state, counted in kinds.items() if kind in counted)
        condition = f"kind = {KIND} AND attribute IN ({states})"
        register_counted_rows(kind, CountedRows(table, owner, condition))


_register(FORWARD_TABLE, "follower_id", FORWARD_KINDS)
_register(BACKWARD_TABLE, "followee_id", BACKWARD_KINDS)
