"""Values of the loaders."""

from typing import NamedTuple

from operations.demo.graphs import Graph
from operations.demo.names import Naming


class Community(NamedTuple):
    """A graph and the names of its accounts. Account ids are found by username."""

    graph: Graph
    naming: Naming

    @property
    def name(self) -> str:
        return self.naming.graph

    @property
    def signature(self) -> str:
        """Identifies the graph: a stopped load continues only with the same signature."""
        return f"{self.graph.digest} {len(self.graph.nodes)} {self.graph.follow_count}"
