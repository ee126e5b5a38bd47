"""The pass of audit_edges over forward edges: is each of them on the other side, as it is here?"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from relations.actions.mirror import Pair, by_followee_shard
from relations.jobs.differences import Difference, report
from relations.jobs.mend import tell_again
from relations.jobs.rows import (
    FORWARD,
    Reflection,
    forward_of,
    read_reflections,
    read_sights,
)
from relations.jobs.snapshot import snapshot
from relations.jobs.verdicts import UNSURE, Sight, Verdict, judge
from relations.types import Edge

LOOKS = 20
LOOK_EVERY_S = 0.1
Pause = Callable[[float], bool]
Edges = Mapping[Pair, Edge]


class Look(NamedTuple):
    """One look at a pair: the verdict, the edge it is about, and what the other side had."""

    verdict: Verdict
    now: Edge
    there: Reflection


def audit_forward(work: Work, repair: bool, pause: Pause) -> Iterator[Batch]:
    """Forward edges without a backward one, or with one that is older or says something else.

    Safety: right beside living writes. Cost: one query a batch and one per shard of followees; as
    many again for what seems to differ, up to LOOKS times while changes are pending.
    """
    for piece in walk_table(work, FORWARD):
        looks = look_until_sure(piece.alias, forward_of(piece.rows), pause)
        found = [_difference(pair, look) for pair, look in sorted(looks.items())]
        yield report(work, piece, found, repair)


def look_until_sure(alias: str, first: Edges, pause: Pause) -> dict[Pair, Look]:
    """What differs of edges of one shard; what is unsure still was so when patience ended."""
    looks: dict[Pair, Look] = {}
    suspects = _suspects(first)
    for turn in range(LOOKS):
        if not suspects or (turn and not pause(LOOK_EVERY_S)):
            break
        looks |= _look(alias, {pair: first[pair] for pair in suspects}, looks)
        suspects = [pair for pair in suspects if looks[pair].verdict in UNSURE]
    return {p: look for p, look in looks.items() if look.verdict is not Verdict.IN_ORDER}


def _suspects(first: Edges) -> list[Pair]:
    """Cheaply: what is not the same on both sides, each read at a moment of its own."""
    suspects = []
    for target, group in by_followee_shard(first).items():
        there = read_reflections(target, group)
        suspects += [pair for pair, edge in group.items() if there[pair].edge != edge]
    return suspects


def _look(alias: str, first: Edges, before: Mapping[Pair, Look]) -> dict[Pair, Look]:
    now = read_sights(alias, first)
    looks = {}
    for target, group in by_followee_shard(first).items():  # after it, or nothing is promised
        there, facing = _read_there(target, group)
        for pair, edge in group.items():
            last = before.get(pair)
            was_hidden = last is not None and _says_hidden(last, now[pair].edge)
            sides = (edge, now[pair], there[pair].edge, facing[pair[::-1]], was_hidden)
            looks[pair] = Look(judge(*sides), now[pair].edge, there[pair])
    return looks


def _says_hidden(look: Look, edge: Edge) -> bool:
    return look.verdict is Verdict.HIDDEN and look.now.revision == edge.revision


def _read_there(
    alias: str, pairs: Iterable[Pair]
) -> tuple[dict[Pair, Reflection], dict[Pair, Sight]]:
    """Backward edges, and the edges that face them, in one snapshot."""
    with snapshot(alias):
        return read_reflections(alias, pairs), read_sights(alias, [pair[::-1] for pair in pairs])


def _difference(pair: Pair, look: Look) -> Difference:
    line = "edge {} → {}: {}".format(*pair, look.verdict.value)
    if look.verdict in UNSURE:
        return Difference(line)
    if not look.there.has_account:
        return Difference(f"edge {pair[0]} → {pair[1]}: account {pair[1]} does not exist")
    return Difference(line, partial(tell_again, pair, look.there.edge.revision))
