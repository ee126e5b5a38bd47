"""The rules of edges when all is quiet.

edge           a follow, block or mute that no order of the writes leaves
both sides     a follow or a block that only one of two accounts knows
contradiction  a follow together with a block
list           a followers or following list that differs from the relationships
counts         a count that differs from its list
"""

from collections.abc import Iterator, Sequence
from math import inf

from lab.faults.history.edges import Edges
from lab.faults.history.violations import Violation
from lab.faults.oracle.state import QuietState

# Flag of the viewer, the same fact as the other account sees it.
MIRRORED = {"following": "followed_by", "blocking": "blocked_by"}


def check_relations(edges: Edges, state: QuietState) -> Iterator[Violation]:
    """What is wrong with the edges, their lists and their counts."""
    for (viewer, other), flags in state.relationships.items():
        yield from _check_edges(edges, viewer, other, state)
        opposite = state.relationships[other, viewer]
        for name, mirrored in MIRRORED.items():
            if bool(flags[name]) != bool(opposite[mirrored]):
                yield Violation("both sides", f"{name}: {viewer} and {other} differ")
        follows = flags["following"] or flags["followed_by"]
        if follows and (flags["blocking"] or flags["blocked_by"]):
            yield Violation("contradiction", f"{viewer} and {other}: a follow and a block")
    for account in state.counts:
        yield from _check_lists(account, state)


def _check_edges(edges: Edges, viewer: int, other: int, state: QuietState) -> Iterator[Violation]:
    flags = state.relationships[viewer, other]
    for name, register in (
        ("following", edges.follows(viewer, other)),
        ("blocking", edges.blocks(viewer, other)),
        ("muting", edges.mutes(viewer, other)),
    ):
        value = bool(flags[name])
        if not register.may_be(value, inf, inf):
            yield Violation("edge", f"{name} of {viewer} and {other} is {value}")


def _check_lists(account: int, state: QuietState) -> Iterator[Violation]:
    others = [other for viewer, other in state.relationships if viewer == account]
    for name, flag, listed in (
        ("following", "following", state.following[account]),
        ("followers", "followed_by", state.followers[account]),
    ):
        expected = {other for other in others if state.relationships[account, other][flag]}
        if _differ(listed, expected):
            text = f"{name} of {account}: {sorted(listed)}, not {sorted(expected)}"
            yield Violation("list", text)
        if (count := state.counts[account][name]) != len(expected):
            yield Violation("counts", f"{name} of {account}: {count}, not {len(expected)}")


def _differ(listed: Sequence[int], expected: set[int]) -> bool:
    """A list has each account once."""
    return len(listed) != len(expected) or set(listed) != expected
