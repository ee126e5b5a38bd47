"""A follow graph in the databases, for workloads that need one of real shape."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from demo.community import FILE, FOLLOW_CAP
from demo.graphs import read_graph
from demo.load import load_community
from demo.names import naming_of
from demo.types import Community


class FollowGraph(NamedTuple):
    """Account ids, and whom each followed when the graph was laid."""

    ids: Sequence[int]
    following: Mapping[int, Sequence[int]]


def load_follow_graph(path: Path | None) -> FollowGraph:
    """The graph of a file, or the excerpt that is shipped. 30,000 accounts take 5 s."""
    graph = read_graph(path or FILE, None, FOLLOW_CAP, None)
    loading = load_community(Community(graph, naming_of("bench")), None)
    try:
        while True:
            next(loading)
    except StopIteration as end:
        ids: dict[int, int] = end.value
    following = {ids[node]: [ids[f] for f in all_] for node, all_ in graph.following.items()}
    return FollowGraph([*ids.values()], following)
