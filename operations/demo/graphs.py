"""Follow graphs from files, without self-follows, repeats, and follows over the cap.

A node is an account's id in the file.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from django.utils.functional import cached_property

from operations.demo.errors import GraphUnreadable
from operations.demo.formats import FORMATS, digest_of, first_byte

Pairs = Iterable[tuple[int, int]]

# Files lack the times of follows. We date them from here on, in the file's order.
STARTED_AT = datetime(2026, 1, 1, tzinfo=UTC)
_STARTED_MS = int(STARTED_AT.timestamp()) * 1000
FOLLOW_EVERY_MS = 60_000


class SkippedFollows(NamedTuple):
    """Follows of the file that are not in the graph."""

    self_follows: int
    repeats: int
    over_cap: int


class Follower(NamedTuple):
    """A follower of a node. `position`: the index of this follow among theirs, from 0."""

    node: int
    position: int

    @property
    def since_ms(self) -> int:
        return since_ms(self.node, self.position)


@dataclass(frozen=True)
class Graph:
    """Followees by follower, in the file's order. `digest` identifies the content of the file.

    Cost: 8 bytes a follow, and 16 more once followers are asked for.
    """

    digest: str
    following: Mapping[int, Sequence[int]]
    left_out: SkippedFollows

    @cached_property
    def nodes(self) -> list[int]:
        """All nodes that follow or are followed, in ascending order."""
        return sorted(self.following.keys() | self._followers.keys())

    @cached_property
    def follow_count(self) -> int:
        return sum(map(len, self.following.values()))

    def follower_count(self, node: int) -> int:
        return len(self._followers.get(node, ())) // 2

    def iter_followers(self, node: int) -> Iterator[Follower]:
        flat = iter(self._followers.get(node, ()))
        return map(Follower, flat, flat)

    @cached_property
    def _followers(self) -> Mapping[int, Sequence[int]]:
        """By followee: follower, position, follower, position …"""
        followers: dict[int, array[int]] = {}
        for follower, followees in self.following.items():
            for position, followee in enumerate(followees):
                followers.setdefault(followee, array("q")).extend((follower, position))
        return followers


def since_ms(follower: int, position: int) -> int:
    """The made-up time of a follow in Unix milliseconds: a minute after the previous one.

    The follower's node shifts it inside that minute, so that a followers list has few ties.
    """
    return _STARTED_MS + position * FOLLOW_EVERY_MS + follower % FOLLOW_EVERY_MS


def read_graph(path: Path, format_name: str | None, cap: int, limit: int | None) -> Graph:
    """The graph in a file. Of each follower the first `cap` follows are kept.

    With `limit`, only the best connected accounts and the follows between them are kept.
    Raises: GraphUnreadable, also for a file without follows.
    """
    name = format_name or ("nostr" if first_byte(path) == b"{" else "edges")
    pairs: Pairs = FORMATS[name](path)
    if limit is not None:
        following = _gather(pairs)
        chosen = set(best_connected(following, limit))
        pairs = ((a, b) for a in following for b in following[a] if a in chosen and b in chosen)
    graph = build_graph(pairs, cap, digest_of(path))
    if not graph.following:
        raise GraphUnreadable(path, f"no follows found, read as {name}")
    return graph


def build_graph(pairs: Pairs, cap: int, digest: str) -> Graph:
    """A graph of these follows. Repeats are dropped."""
    following: dict[int, array[int]] = {}
    self_follows = repeats = over_cap = 0
    for follower, all_followees in _gather(pairs).items():
        distinct = dict.fromkeys(all_followees)
        repeats += len(all_followees) - len(distinct)
        followees = [followee for followee in distinct if followee != follower]
        self_follows += len(distinct) - len(followees)
        over_cap += max(len(followees) - cap, 0)
        if followees:
            following[follower] = array("q", followees[:cap])
    return Graph(digest, following, SkippedFollows(self_follows, repeats, over_cap))


def best_connected(following: Mapping[int, Sequence[int]], count: int) -> list[int]:
    """The nodes with the most followees and followers together. Most first; ties by id."""
    degrees: dict[int, int] = {}
    for follower, followees in following.items():
        degrees[follower] = degrees.get(follower, 0) + len(followees)
        for followee in followees:
            degrees[followee] = degrees.get(followee, 0) + 1
    return sorted(degrees, key=lambda node: (-degrees[node], node))[:count]


def _gather(pairs: Pairs) -> Mapping[int, Sequence[int]]:
    following: dict[int, array[int]] = {}
    for follower, followee in pairs:
        following.setdefault(follower, array("q")).append(followee)
    return following
