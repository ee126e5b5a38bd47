"""What edges must be after any history, computed the plain way: dictionaries, no Django, no caches.

A block has two moments: its owner's, at once, and the one at which the other side is told. Between
them the other may still begin a follow; it ends when they are told, also of a block that was
taken back by then.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

NONE, OPEN, QUIET, BLOCK = range(4)
Pair = tuple[int, int]  # who, whom


@dataclass
class Relationship:
    """What lies from one to another. `told`: blocks the other side knows of, and the last news."""

    state: int = NONE
    since_ms: int = 0
    flags: dict[str, bool] = field(default_factory=dict)
    blocks: int = 0
    told_blocks: int = 0
    is_told_blocked: bool = False

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
    """Everybody's edges. Acts answer as the product does; what is refused changes nothing."""

    def __init__(self) -> None:
        self.edges: dict[Pair, Relationship] = defaultdict(Relationship)

    def follow(self, a: int, b: int, wish: dict[str, bool | None], now_ms: int) -> bool | None:
        """None: refused."""
        edge, facing = self.edges[a, b], self.edges[b, a]
        if edge.state == BLOCK or (not edge.is_follow and facing.is_told_blocked):
            return None
        before = (edge.state, dict(edge.flags))
        if not edge.is_follow:
            edge.state, edge.since_ms, edge.flags = OPEN, now_ms, {}
        given = {name: is_on for name, is_on in wish.items() if is_on is not None}
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

    def tell(self, a: int, b: int) -> None:
        """The other side hears of a → b as it is now."""
        edge = self.edges[a, b]
        if edge.blocks > edge.told_blocks:
            self.unfollow(b, a)
        edge.told_blocks, edge.is_told_blocked = edge.blocks, edge.state == BLOCK

    def tell_all_of(self, owner: int) -> None:
        for a, b in list(self.edges):
            if a == owner:
                self.tell(a, b)

    def of_state(self, who: int, *states: int) -> list[int]:
        """Everybody one's own edges in these states lead to, the latest first."""
        found = [(e.since_ms, b) for (a, b), e in self.edges.items() if a == who]
        return [b for _, b in sorted(found, reverse=True) if self.edges[who, b].state in states]

    def followers(self, who: int, *states: int) -> list[int]:
        """Everybody who follows, as everybody has been told, the latest first."""
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
