"""The harness's side of the proxy: one link between each process and each store."""

from collections.abc import Mapping

from lab.faults.cluster.orders import OrderedProcess


class Links:
    """Links have names "PROCESS:STORE", for example "web0:shard1". Patterns have `*`. Each
    change of links returns how many ends of connections it met.

    `targets`: the path of the store's socket for each link.
    """

    def __init__(self, proxy: OrderedProcess, targets: Mapping[str, str]) -> None:
        self._proxy = proxy
        self.ports: dict[str, int] = proxy.ask({"links": dict(targets)})

    def open(self, match: str = "*", delay_s: float = 0.0) -> int:
        """Bytes pass again, each piece `delay_s` late."""
        return int(self._proxy.ask({"match": match, "mode": "open", "delay_s": delay_s}))

    def stall(self, match: str) -> int:
        """Nothing passes, and connections stay open: a network that swallows packets."""
        return int(self._proxy.ask({"match": match, "mode": "stall"}))

    def cut(self, match: str) -> int:
        """Connections are reset, and new ones too."""
        return int(self._proxy.ask({"match": match, "mode": "cut"}))
