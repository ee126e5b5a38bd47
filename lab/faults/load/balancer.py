"""What a load balancer does: it sends new requests only to webs that are ready."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from lab.faults.load.probe import probing

ASK_EVERY_S = 0.1


class Balancer:
    """Safety: any thread may ask for a port."""

    def __init__(self, ports: Mapping[str, int]) -> None:
        self._all = list(ports.values())
        self._is_ready = dict.fromkeys(self._all, True)

    def port_for(self, client: int) -> int:
        """The client's own web; another one while that is not ready and the other is."""
        own = self._all[client % len(self._all)]
        others = [port for port in self._all if self._is_ready[port]]
        return own if own in others or not others else others[client % len(others)]

    def is_ready(self, port: int) -> bool:
        return self._is_ready[port]

    def watching(self) -> AbstractContextManager[None]:
        """Asks the webs again and again during the block."""
        return probing(self._all, "/health/ready", ASK_EVERY_S, self._is_ready.__setitem__)
