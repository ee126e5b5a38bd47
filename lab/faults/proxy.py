"""A TCP proxy that misbehaves on command: python -m lab.faults.proxy, in a process of its own.

It is between one process of Tideline and one store, or between two nodes of a Redis Cluster.
Standard input has a JSON object a line; each is answered by a line. {"links": {name: path of the
store's socket}} is answered by the ports. {"bus": port} is answered by the port on which other
nodes reach that node; the link of two nodes is "PEER>PORT", and PEER the address it comes from. The
others are {"match": pattern, "mode": mode, "delay_s": seconds, "last": words}, answered
by how many ends of connections the mode met. The modes:

open    bytes pass (each piece `delay_s` late); a piece with the `last` words passes and stalls the
        link, so that a store does what it was asked, and its answer is lost
stall   nothing passes in any direction, connections stay open, new ones get no answer; when the
        link opens again, everything arrives, as after lost packets
cut     connections are reset, and new ones too
"""

import asyncio
import fnmatch
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

HOST = "127.0.0.1"


class ProxyLink:
    """The connections between one process and one store. `target`: a socket's path or a port."""

    def __init__(self, target: str | int) -> None:
        self.target = target
        self.mode = "open"
        self.delay_s = 0.0
        self.last = b""
        self.ends: set[ProxyEnd] = set()
        self._opened = asyncio.Event()
        self._opened.set()

    def set_mode(self, mode: str, delay_s: float = 0.0, last: bytes = b"") -> int:
        """Returns how many ends of connections there were."""
        self.mode, self.delay_s, self.last = mode, delay_s, last
        ends = list(self.ends)
        for end in ends:
            end.follow_mode()
        if mode == "open":
            self._opened.set()
        else:
            self._opened.clear()
        return len(ends)

    async def wait_until_open(self) -> None:
        await self._opened.wait()


class ProxyEnd(asyncio.Protocol):
    """One end of a connection; `other` is the end on the other side of the proxy."""

    transport: asyncio.Transport
    other: "ProxyEnd | None" = None

    def __init__(self, link: ProxyLink) -> None:
        self.link = link
        self.is_closed = False
        self._due_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.link.ends.add(self)
        self.follow_mode()

    def follow_mode(self) -> None:
        if self.link.mode == "cut":
            self.transport.abort()
        elif self.link.mode == "stall" or self.other is None:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self.link.last and self.link.last in data:
            self.link.set_mode("stall")
        if self.link.delay_s:
            self._send_later(data)
        else:
            self._send(data)

    def _send_later(self, data: bytes) -> None:
        """Pieces keep their order, also when the delay gets shorter."""
        loop = asyncio.get_running_loop()
        self._due_s = max(self._due_s + 1e-6, loop.time() + self.link.delay_s)
        loop.call_at(self._due_s, self._send, data)

    def _send(self, data: bytes) -> None:
        if self.other is not None and not self.other.is_closed:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        """This end takes no more: its other end reads no more."""
        if self.other is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.follow_mode()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_closed = True
        self.link.ends.discard(self)
        if self.other is not None and not self.other.is_closed:
            self.other.transport.close()


class ProxyEntrance(ProxyEnd):
    """The end that a process of Tideline opened: it opens the other end at the store."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._opening = asyncio.get_running_loop().create_task(self._open_other())

    async def _open_other(self) -> None:
        await self.link.wait_until_open()
        try:
            other = await _connect(self.link)
        except OSError:
            self.transport.abort()
            return
        self.other, other.other = other, self
        if self.is_closed:
            other.transport.abort()
        self.follow_mode()
        other.follow_mode()


class BusEntrance(ProxyEntrance):
    """The end that another node opened. Its source address says which."""

    def __init__(self, links: dict[str, ProxyLink], target: int) -> None:
        self._links, self._target = links, target

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        name = f"{transport.get_extra_info('peername')[0]}>{self._target}"
        self._links.setdefault(name, ProxyLink(self._target))
        super().__init__(self._links[name])
        super().connection_made(transport)


async def _connect(link: ProxyLink) -> ProxyEnd:
    loop = asyncio.get_running_loop()
    if isinstance(link.target, int):
        return (await loop.create_connection(lambda: ProxyEnd(link), HOST, link.target))[1]
    return (await loop.create_unix_connection(lambda: ProxyEnd(link), link.target))[1]


class Proxy:
    """All links of one harness."""

    def __init__(self) -> None:
        self._links: dict[str, ProxyLink] = {}

    async def obey(self, order: dict[str, Any]) -> Any:
        if "bus" in order:
            port: int = order["bus"]
            return await _listen(lambda: BusEntrance(self._links, port))
        if "links" in order:
            return {name: await self._listen(name, path) for name, path in order["links"].items()}
        names = fnmatch.filter(self._links, order["match"])
        how = order["mode"], order.get("delay_s", 0.0), order.get("last", "").encode()
        return sum(self._links[name].set_mode(*how) for name in names)

    async def _listen(self, name: str, path: str) -> int:
        link = self._links[name] = ProxyLink(path)
        return await _listen(lambda: ProxyEntrance(link))


async def _listen(entrance: Callable[[], ProxyEntrance]) -> int:
    server = await asyncio.get_running_loop().create_server(entrance, HOST, 0, backlog=256)
    port: int = server.sockets[0].getsockname()[1]
    return port


async def _serve() -> None:
    proxy, reader = Proxy(), asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        print(json.dumps(await proxy.obey(json.loads(line))), flush=True)


def main() -> None:
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve())


if __name__ == "__main__":
    main()
