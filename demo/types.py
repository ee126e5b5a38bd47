"""What the loaders hand to each other."""

from typing import NamedTuple

from demo.graphs import Graph
from demo.names import Naming


class Community(NamedTuple):
    """A graph and how its accounts are called. Account ids are found by username."""

    graph: Graph
    naming: Naming

    @property
    def name(self) -> str:
        return self.naming.graph

    @property
    def signature(self) -> str:
        """What must be the same for a load to go on where another was stopped."""
        return f"{self.graph.digest} {len(self.graph.nodes)} {self.graph.follow_count}"
