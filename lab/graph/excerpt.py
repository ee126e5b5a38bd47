"""Cuts a small, lively community out of a large graph: python -m lab.graph.excerpt GRAPH OUT.

It takes the best connected accounts and drops some of their follows, those of popular accounts
less often. So some accounts have many followers, and followees of one account follow each other.
Accounts get new numbers from 0, the best connected first. It made
operations/demo/data/community.edges.gz.
"""

import gzip
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from operations.demo.graphs import Graph, best_connected, read_graph

ACCOUNTS = 400
# The n-th account, from 1, keeps MOST / sqrt(n) of its follows, but FEWEST at least.
MOST, FEWEST = 120, 6
FOLLOW_CAP = 2_000
SEED = 1


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    graph = read_graph(source, None, FOLLOW_CAP, ACCOUNTS)
    target.write_bytes(gzip.compress(cut(graph).encode(), mtime=0))


def cut(graph: Graph) -> str:
    """The excerpt in the `edges` format. The same graph gives the same excerpt."""
    number = {node: n for n, node in enumerate(best_connected(graph.following, len(graph.nodes)))}
    return "".join(
        f"{number[follower]} {number[followee]}\n"
        for follower in number
        if follower in graph.following
        for followee in _thin(graph, follower, int(MOST / (number[follower] + 1) ** 0.5))
    )


def _thin(graph: Graph, follower: int, count: int) -> Sequence[int]:
    """Some of the followees, in their order: a weighted sample without replacement."""
    followees = graph.following[follower]
    chance = random.Random(f"{SEED}:{follower}")
    # Efraimidis and Spirakis 2006: the items with the highest u^(1/weight) are such a sample.
    rank = {f: chance.random() ** (1 / graph.follower_count(f) ** 2) for f in followees}
    chosen = set(sorted(rank, key=lambda f: -rank[f])[: max(count, FEWEST)])
    return [followee for followee in followees if followee in chosen]


if __name__ == "__main__":
    main()
