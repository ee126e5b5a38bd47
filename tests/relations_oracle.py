"""The expected edges after any history, computed with plain dictionaries.

A block takes effect twice: for its owner at once, and for the other side when it is mirrored.
Between the two the other side may still begin a follow. The mirroring ends that follow, also when
the block was taken back before.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

NONE, OPEN, QUIET, BLOCK, ASKED, ASKED_QUIETLY = range(6)
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

    @property
    def is_request(self) -> bool:
        return self.state in (ASKED, ASKED_QUIETLY)


class Counts(NamedTuple):
    following: int
    quiet_following: int
    blocked: int
    followers: int
    quiet_followers: int
    sent_requests: int
    follow_requests: int


class RelationsOracle:
    """The edges of all accounts. Writes answer as the product does; a refusal changes nothing."""

    def __init__(self) -> None:
        self.edges: dict[Pair, OracleEdge] = defaultdict(OracleEdge)
        self.locked: set[int] = set()

    def follow(self, a: int, b: int, options: dict[str, bool | None], now_ms: int) -> bool | None:
        """None: refused."""
        edge, opposite = self.edges[a, b], self.edges[b, a]
        is_live = edge.is_follow or edge.is_request
        if edge.state == BLOCK or (not is_live and opposite.is_mirrored_block):
            return None
        before = (edge.state, dict(edge.flags))
        given = {name: is_on for name, is_on in options.items() if is_on is not None}
        is_quiet = given.pop("quiet", edge.state in (QUIET, ASKED_QUIETLY))
        if not edge.is_follow and b in self.locked:
            if not edge.is_request:
                edge.since_ms, edge.flags = now_ms, {}
            edge.state = ASKED_QUIETLY if is_quiet else ASKED
        else:
            if not edge.is_follow:
                edge.since_ms = now_ms
            edge.state = QUIET if is_quiet else OPEN
            edge.flags = edge.flags if is_live else {}
        edge.flags |= given
        edge.flags = {name: is_on for name, is_on in edge.flags.items() if is_on}
        return (edge.state, edge.flags) != before

    def unfollow(self, a: int, b: int) -> bool:
        edge = self.edges[a, b]
        if not (edge.is_follow or edge.is_request):
            return False
        edge.state, edge.flags = NONE, {}
        return True

    def answer(self, a: int, b: int, is_approved: bool, now_ms: int) -> bool:
        """The answer of b to the request of a; False: there is none."""
        edge = self.edges[a, b]
        if not edge.is_request:
            return False
        if is_approved:
            edge.state, edge.since_ms = QUIET if edge.state == ASKED_QUIETLY else OPEN, now_ms
        else:
            self.unfollow(a, b)
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
            len(self.of_state(who, ASKED, ASKED_QUIETLY)),
            len(self.followers(who, ASKED, ASKED_QUIETLY)),
        )
