"""The expected edges after any history, computed with plain dictionaries.

A block takes effect twice: for its owner at once, and for the other side when it is mirrored.
Between the two the other side may still begin a follow. The mirroring ends that follow, also when
the block was taken back before.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

NONE, OPEN, QUIET, BLOCK = range(4)
Pair = tuple[int, int]  # follower, followee


@dataclass
class OracleEdge:
    """One edge. `mirrored_…`: the blocks that were mirrored, and the last mirrored state."""

    state: int = NONE
    since_ms: int = 0
    flags: dict[str, bool] = field(default_factory=dict)
    blocks: int = 0
    mirrored_blocks: int = 0
    is_mirrored_block: bool = False

    @property
    def is_follow(self) -> bool:
        return self.state in (OPEN, QUIET)


class Counts(NamedTuple):
    following: int
    quiet_following: int
    blocked: int
    followers: int
    quiet_followers: int


class RelationsOracle:
    """The edges of all accounts. Writes answer as the product does; a refusal changes nothing."""

    def __init__(self) -> None:
        self.edges: dict[Pair, OracleEdge] = defaultdict(OracleEdge)

    def follow(self, a: int, b: int, options: dict[str, bool | None], now_ms: int) -> bool | None:
        """None: refused."""
        edge, opposite = self.edges[a, b], self.edges[b, a]
        if edge.state == BLOCK or (not edge.is_follow and opposite.is_mirrored_block):
            return None
        before = (edge.state, dict(edge.flags))
        if not edge.is_follow:
            edge.state, edge.since_ms, edge.flags = OPEN, now_ms, {}
        given = {name: is_on for name, is_on in options.items() if is_on is not None}
        if "quiet" in given:
            edge.state = QUIET if given.pop("quiet") else OPEN
        edge.flags |= given
        edge.flags = {name: is_on for name, is_on in edge.flags.items() if is_on}
        return (edge.state, edge.flags) != before

    def unfollow(self, a: int, b: int) -> bool:
        edge = self.edges[a, b]
        if not edge.is_follow:
            return False
        edge.state, edge.flags = NONE, {}
        return True

    def block(self, a: int, b: int, now_ms: int) -> bool:
        edge = self.edges[a, b]
        if edge.state == BLOCK:
            return False
        edge.state, edge.since_ms, edge.flags = BLOCK, now_ms, {}
        edge.blocks += 1
        return True

    def unblock(self, a: int, b: int) -> bool:
        edge = self.edges[a, b]
        if edge.state != BLOCK:
            return False
        edge.state = NONE
        return True

    def mirror(self, a: int, b: int) -> None:
        """Mirrors a → b as it is now."""
        edge = self.edges[a, b]
        if edge.blocks > edge.mirrored_blocks:
            self.unfollow(b, a)
        edge.mirrored_blocks, edge.is_mirrored_block = edge.blocks, edge.state == BLOCK

    def mirror_all_of(self, owner: int) -> None:
        for a, b in list(self.edges):
            if a == owner:
                self.mirror(a, b)

    def of_state(self, who: int, *states: int) -> list[int]:
        """The targets of one account's edges in these states, the latest first."""
        found = [(e.since_ms, b) for (a, b), e in self.edges.items() if a == who]
        return [b for _, b in sorted(found, reverse=True) if self.edges[who, b].state in states]

    def followers(self, who: int, *states: int) -> list[int]:
        """The followers in these states, the latest first."""
        found = [(e.since_ms, a) for (a, b), e in self.edges.items() if b == who]
        return [a for _, a in sorted(found, reverse=True) if self.edges[a, who].state in states]

    def counts(self, who: int) -> Counts:
        return Counts(
            len(self.of_state(who, OPEN, QUIET)),
            len(self.of_state(who, QUIET)),
            len(self.of_state(who, BLOCK)),
            len(self.followers(who, OPEN, QUIET)),
            len(self.followers(who, QUIET)),
        )
