"""Draws a follow graph of any size.

The number of followees does not depend on the size of the graph, as people follow as many others in
a large community as in a small one. Followers are distributed by Zipf, so the best known account of
a large graph has more of them.
"""

import random
from collections.abc import Iterator

from lab.bench.draws import Zipf
from operations.demo.graphs import Graph, build_graph

FOLLOWEES_MEDIAN, FOLLOWEES_SIGMA, MOST_FOLLOWEES = 12, 1.0, 500
FAME_SHAPE = 0.8


def draw_graph(accounts: int, seed: int) -> Graph:
    """About 20 followees for each of `accounts` nodes. The same seed draws the same graph."""
    return build_graph(_draw_follows(accounts, seed), MOST_FOLLOWEES, f"{accounts} by {seed}")


def _draw_follows(accounts: int, seed: int) -> Iterator[tuple[int, int]]:
    dice = random.Random(seed)
    nodes = range(1, accounts + 1)
    famous = Zipf(nodes, FAME_SHAPE, dice)
    for node in nodes:
        count = FOLLOWEES_MEDIAN * dice.lognormvariate(0, FOLLOWEES_SIGMA)
        for followee in famous.draw_many(min(1 + int(count), MOST_FOLLOWEES)):
            yield node, followee
