"""What tests of this folder are given: a Redis alone, its server and a client of it; a cluster."""

from tests.faults.cluster_nodes import cluster, nodes
from tests.faults.redis_alone import asked, breaker_clock, client, server

__all__ = ["asked", "breaker_clock", "client", "cluster", "nodes", "server"]
