"""The pass of audit edges over forward edges: does each have an equal backward edge?"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from infra.jobs.audit import AuditRun
from infra.jobs.findings import (
    COMPARE_EVERY_S,
    MOST_COMPARISONS,
    AuditFinding,
    Pause,
)
from infra.jobs.walk import Piece
from relations.jobs.edge_differences import UNSURE, EdgeDifference, EdgeSighting, compare_edges
from relations.jobs.edge_sightings import (
    BackwardSighting,
    forward_of,
    read_backward_sightings,
    read_forward_sightings,
    snapshot,
)
from relations.jobs.repair import mirror_again
from relations.queries.edges import Pair, group_by_followee_shard
from relations.types import Edge

Edges = Mapping[Pair, Edge]


class EdgeComparison(NamedTuple):
    """One comparison of a pair: the result, the forward edge and the backward edge."""

    difference: EdgeDifference
    forward: Edge
    backward: BackwardSighting


def judge_forward(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Forward edges without a backward edge, or with an older or different one.

    Cost: one query per shard of followees; two more per comparison for edges that differ, up to
    MOST_COMPARISONS while changes are pending.
    """
    compared = compare_until_sure(piece.alias, forward_of(piece.rows), run.pause)
    return (_finding(pair, comparison) for pair, comparison in sorted(compared.items()))


def compare_until_sure(alias: str, first: Edges, pause: Pause) -> dict[Pair, EdgeComparison]:
    """The edges of one shard that differ; those that are UNSURE were so at the last comparison."""
    compared: dict[Pair, EdgeComparison] = {}
    suspects = _find_suspects(first)
    for turn in range(MOST_COMPARISONS):
        if not suspects or (turn and not pause(COMPARE_EVERY_S)):
            break
        compared |= _compare(alias, {pair: first[pair] for pair in suspects}, compared)
        suspects = [pair for pair in suspects if compared[pair].difference in UNSURE]
    in_order = EdgeDifference.IN_ORDER
    return {pair: edge for pair, edge in compared.items() if edge.difference is not in_order}


def _find_suspects(first: Edges) -> list[Pair]:
    """Edges that seem to differ. Cheap: the two sides were read at different moments."""
    suspects = []
    for target, group in group_by_followee_shard(first).items():
        backward = read_backward_sightings(target, group)
        suspects += [pair for pair, edge in group.items() if backward[pair].edge != edge]
    return suspects


def _compare(
    alias: str, first: Edges, before: Mapping[Pair, EdgeComparison]
) -> dict[Pair, EdgeComparison]:
    now = read_forward_sightings(alias, first)
    compared = {}
    # The backward edges are read after the forward edges: compare_edges relies on it.
    for target, group in group_by_followee_shard(first).items():
        backward, opposite = _read_followee_side(target, group)
        for pair, edge in group.items():
            was_hidden = _was_hidden(before.get(pair), now[pair].edge)
            sides = (edge, now[pair], backward[pair].edge, opposite[pair[::-1]], was_hidden)
            compared[pair] = EdgeComparison(compare_edges(*sides), now[pair].edge, backward[pair])
    return compared


def _was_hidden(before: EdgeComparison | None, edge: Edge) -> bool:
    return (
        before is not None
        and before.difference is EdgeDifference.HIDDEN
        and before.forward.revision == edge.revision
    )


def _read_followee_side(
    alias: str, pairs: Iterable[Pair]
) -> tuple[dict[Pair, BackwardSighting], dict[Pair, EdgeSighting]]:
    """Backward edges, and the opposite forward edges, in one snapshot."""
    opposite = [pair[::-1] for pair in pairs]
    with snapshot(alias):
        return read_backward_sightings(alias, pairs), read_forward_sightings(alias, opposite)


def _finding(pair: Pair, comparison: EdgeComparison) -> AuditFinding:
    line = "edge {} → {}: {}".format(*pair, comparison.difference.value)
    if comparison.difference in UNSURE:
        return AuditFinding(line)
    if not comparison.backward.has_account:
        return AuditFinding(f"edge {pair[0]} → {pair[1]}: account {pair[1]} does not exist")
    return AuditFinding(line, partial(mirror_again, pair, comparison.backward.edge.revision))
