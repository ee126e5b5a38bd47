"""The harness's side of the proxy: one link between each process and each store."""

from collections.abc import Mapping

from faults.cluster.orders import OrderedProcess


class Links:
    """Links have names "PROCESS:STORE", for example "web0:shard1". Patterns have `*`.

    `targets`: the path of the store's socket for each link.
    """

    def __init__(self, proxy: OrderedProcess, targets: Mapping[str, str]) -> None:
        self._proxy = proxy
        self.ports: dict[str, int] = proxy.ask({"links": dict(targets)})

    def open(self, match: str = "*", delay_s: float = 0.0) -> None:
        """Bytes pass again, each piece `delay_s` late."""
        self._proxy.ask({"match": match, "mode": "open", "delay_s": delay_s})

    def stall(self, match: str) -> None:
        """Nothing passes, and connections stay open: a network that swallows packets."""
        self._proxy.ask({"match": match, "mode": "stall"})

    def cut(self, match: str) -> None:
        """Connections are reset, and new ones too."""
        self._proxy.ask({"match": match, "mode": "cut"})
