"""A Redis Cluster for experiments: three primaries, a replica of each, and links between them.

The processes of Tideline reach the nodes directly. What nodes say to each other passes the proxy,
so a node can be cut off from the others while it still serves clients.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from lab.faults.cluster.child_with_orders import OrderedProcess, obeying
from lab.runner.port import HOST
from lab.runner.redis_cluster import PortRedis, redis_cluster, wait_until

PRIMARIES = 3
# Nodes come from addresses of their own, so that the proxy knows who calls.
_SOURCE = "127.0.1.{}"


class RedisNodes:
    """`servers`: the first primaries, and then their replicas in the same order."""

    def __init__(
        self, bus: OrderedProcess, servers: Sequence[PortRedis], sources: Mapping[int, str]
    ) -> None:
        self._bus, self.servers, self._sources = bus, servers, sources

    @property
    def environment(self) -> dict[str, str]:
        """Of the processes that use it."""
        urls = ",".join(server.url for server in self.servers)
        return {"REDIS_URL": urls, "REDIS_CLUSTER": "1"}

    def pair(self, number: int) -> tuple[PortRedis, PortRedis]:
        """One of the first primaries, and its replica."""
        return self.servers[number], self.servers[PRIMARIES + number]

    def cut_off(self, server: PortRedis) -> int:
        """From all other nodes. Returns how many ends of connections there were."""
        return self._set_links(server, "stall")

    def heal(self) -> None:
        """All nodes run, hear each other and have all data. Raises TimeoutError."""
        for server in self.servers:
            self._set_links(server, "cut")  # what was stalled is lost
        for server in self.servers:
            self._set_links(server, "open")
            server.resume()
            if server.has_ended():
                server.start()
        wait_until(lambda: all(map(PortRedis.is_up, self.servers)))
        for server in self.servers:
            server.follow_primary()
        wait_until(lambda: all(map(PortRedis.is_in_cluster, self.servers)))
        wait_until(lambda: all(map(PortRedis.has_all_data, self.servers)))

    def _set_links(self, server: PortRedis, mode: str) -> int:
        matches = f"{self._sources[server.bus]}>*", f"*>{server.bus}"
        orders = ({"match": match, "mode": mode} for match in matches)
        return sum(int(self._bus.ask(order)) for order in orders)


@contextmanager
def running_nodes() -> Iterator[RedisNodes]:
    """The cluster during the block. Safety: call it from the main thread. Cost: 4 s."""
    sources: dict[int, str] = {}
    with obeying("lab.faults.proxy") as bus:

        def settings_of(port: int) -> dict[str, str]:
            sources[port] = _SOURCE.format(len(sources) + 1)
            return {
                "cluster-announce-ip": HOST,
                "cluster-announce-bus-port": str(bus.ask({"bus": port})),
                "bind-source-addr": sources[port],
            }

        with redis_cluster(PRIMARIES, PRIMARIES, settings_of) as servers:
            yield RedisNodes(bus, servers, sources)
