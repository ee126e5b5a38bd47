"""What a load balancer does: it sends new requests only to webs that are ready."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from config.runner.port import is_answering

ASK_EVERY_S = 0.1


class Balancer:
    """Safety: any thread may ask for a port."""

    def __init__(self, ports: Mapping[str, int]) -> None:
        self._all = list(ports.values())
        self._ready = frozenset(self._all)

    def port_for(self, client: int) -> int:
        """The client's own web; another one while that is not ready and the other is."""
        own = self._all[client % len(self._all)]
        others = [port for port in self._all if port in self._ready]
        return own if own in self._ready or not others else others[client % len(others)]

    def is_ready(self, port: int) -> bool:
        return port in self._ready

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Asks the webs again and again during the block, each in a thread of its own."""
        over = threading.Event()
        threads = [
            threading.Thread(target=self._watch, args=(port, over), daemon=True)
            for port in self._all
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def _watch(self, port: int, over: threading.Event) -> None:
        while not over.wait(ASK_EVERY_S):
            if is_answering(port, "/health/ready"):
                self._ready |= {port}
            else:
                self._ready -= {port}
