"""The rows that counts of relations are the numbers of: edges, by the states that each kind has."""

from counters.counted import CountedRows, register_counted_rows
from counters.kinds import CounterKind
from relations.actions.edges import BACKWARD_KINDS, FORWARD_KINDS, Kinds


def _edges(table: str, owner: str, kinds: Kinds, kind: CounterKind) -> CountedRows:
    states = ", ".join(str(int(state)) for state, counted in kinds.items() if kind in counted)
    return CountedRows(table, owner, f"attribute IN ({states})")


for _kind in dict.fromkeys(kind for kinds in FORWARD_KINDS.values() for kind in kinds):
    register_counted_rows(
        _kind, _edges("relations_forwardedge", "follower_id", FORWARD_KINDS, _kind)
    )
for _kind in dict.fromkeys(kind for kinds in BACKWARD_KINDS.values() for kind in kinds):
    register_counted_rows(
        _kind, _edges("relations_backwardedge", "followee_id", BACKWARD_KINDS, _kind)
    )
