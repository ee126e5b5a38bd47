"""What tests of this folder are given: a Redis alone, its server and a client of it; a cluster."""

from tests.faults.cluster_nodes import cluster, nodes
from tests.faults.redis_alone import asked, client, server

__all__ = ["asked", "client", "cluster", "nodes", "server"]
