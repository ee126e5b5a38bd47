"""The pass of audit_edges over forward edges: is each of them on the other side, as it is here?"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from relations.actions.mirror import Pair, group_by_followee_shard
from relations.jobs.differences import AuditFinding, report_findings
from relations.jobs.edge_differences import UNSURE, EdgeDifference, EdgeSighting, compare_edges
from relations.jobs.edge_sightings import (
    FORWARD,
    BackwardSighting,
    forward_of,
    read_backward_sightings,
    read_forward_sightings,
)
from relations.jobs.repair import mirror_again
from relations.jobs.snapshot import snapshot
from relations.types import Edge

MOST_COMPARISONS = 20
COMPARE_EVERY_S = 0.1
Pause = Callable[[float], bool]
Edges = Mapping[Pair, Edge]


class EdgeComparison(NamedTuple):
    """One look at a pair: the verdict, the edge it is about, and what the other side had."""

    verdict: EdgeDifference
    now: Edge
    there: BackwardSighting


def audit_forward(work: Work, repair: bool, pause: Pause) -> Iterator[Batch]:
    """Forward edges without a backward one, or with one that is older or says something else.

    Safety: right beside living writes. Cost: one query a batch and one per shard of followees; as
    many again for what seems to differ, up to LOOKS times while changes are pending.
    """
    for piece in walk_table(work, FORWARD):
        looks = compare_until_sure(piece.alias, forward_of(piece.rows), pause)
        found = [_difference(pair, look) for pair, look in sorted(looks.items())]
        yield report_findings(work, piece, found, repair)


def compare_until_sure(alias: str, first: Edges, pause: Pause) -> dict[Pair, EdgeComparison]:
    """What differs of edges of one shard; what is unsure still was so when patience ended."""
    looks: dict[Pair, EdgeComparison] = {}
    suspects = _suspects(first)
    for turn in range(MOST_COMPARISONS):
        if not suspects or (turn and not pause(COMPARE_EVERY_S)):
            break
        looks |= _look(alias, {pair: first[pair] for pair in suspects}, looks)
        suspects = [pair for pair in suspects if looks[pair].verdict in UNSURE]
    return {p: look for p, look in looks.items() if look.verdict is not EdgeDifference.IN_ORDER}


def _suspects(first: Edges) -> list[Pair]:
    """Cheaply: what is not the same on both sides, each read at a moment of its own."""
    suspects = []
    for target, group in group_by_followee_shard(first).items():
        there = read_backward_sightings(target, group)
        suspects += [pair for pair, edge in group.items() if there[pair].edge != edge]
    return suspects


def _look(
    alias: str, first: Edges, before: Mapping[Pair, EdgeComparison]
) -> dict[Pair, EdgeComparison]:
    now = read_forward_sightings(alias, first)
    looks = {}
    for target, group in group_by_followee_shard(first).items():  # after it, or nothing is promised
        there, facing = _read_there(target, group)
        for pair, edge in group.items():
            last = before.get(pair)
            was_hidden = last is not None and _says_hidden(last, now[pair].edge)
            sides = (edge, now[pair], there[pair].edge, facing[pair[::-1]], was_hidden)
            looks[pair] = EdgeComparison(compare_edges(*sides), now[pair].edge, there[pair])
    return looks


def _says_hidden(look: EdgeComparison, edge: Edge) -> bool:
    return look.verdict is EdgeDifference.HIDDEN and look.now.revision == edge.revision


def _read_there(
    alias: str, pairs: Iterable[Pair]
) -> tuple[dict[Pair, BackwardSighting], dict[Pair, EdgeSighting]]:
    """Backward edges, and the edges that face them, in one snapshot."""
    with snapshot(alias):
        return read_backward_sightings(alias, pairs), read_forward_sightings(
            alias, [pair[::-1] for pair in pairs]
        )


def _difference(pair: Pair, look: EdgeComparison) -> AuditFinding:
    line = "edge {} → {}: {}".format(*pair, look.verdict.value)
    if look.verdict in UNSURE:
        return AuditFinding(line)
    if not look.there.has_account:
        return AuditFinding(f"edge {pair[0]} → {pair[1]}: account {pair[1]} does not exist")
    return AuditFinding(line, partial(mirror_again, pair, look.there.edge.revision))
