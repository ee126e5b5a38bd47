"""The harness's side of the proxy: one link between each process and each store."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from lab.faults.cluster.child_with_orders import OrderedProcess, obeying
from lab.runner.port import HOST


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

    def open_until(self, match: str, last: str) -> int:
        """Bytes pass until a piece with these words has passed. Then the link is stalled."""
        return int(self._proxy.ask({"match": match, "mode": "open", "last": last}))

    def stall(self, match: str) -> int:
        """Nothing passes, and connections stay open: a network that swallows packets."""
        return int(self._proxy.ask({"match": match, "mode": "stall"}))

    def cut(self, match: str) -> int:
        """Connections are reset, and new ones too."""
        return int(self._proxy.ask({"match": match, "mode": "cut"}))

    def reset(self, match: str = "*") -> None:
        """Bytes pass again on new connections. Those that were stalled are reset."""
        self.cut(match)
        self.open(match)

    def url(self, name: str, url: str) -> str:
        """The URL of a store, as the process at the end of this link reaches it."""
        place = f"{HOST}:{self.ports[name]}"
        if urlsplit(url).scheme == "unix":
            return f"redis://{place}/0"
        return f"postgresql://tideline@{place}/tideline"


@contextmanager
def linked(targets: Mapping[str, str]) -> Iterator[Links]:
    """The links during the block. `targets`: the URL of the store for each."""
    with obeying("lab.faults.proxy") as proxy:
        yield Links(proxy, {name: socket_path(url) for name, url in targets.items()})


def socket_path(url: str) -> str:
    """The path of a store's socket."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return parts.path
    where = parse_qs(parts.query)
    return f"{where['host'][0]}/.s.PGSQL.{where['port'][0]}"
