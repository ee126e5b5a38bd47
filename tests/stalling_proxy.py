"""A proxy before PostgreSQL or Redis. It can swallow all bytes, like a broken network."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

_SIZE = 65_536


class StallingProxy:
    """Listens on a socket of its own in `folder`. Threads share it."""

    def __init__(self, url: str, folder: Path) -> None:
        socket_file = _socket_of(url)
        self._name, self._target = socket_file.name, str(socket_file)
        self.url = url.replace(str(socket_file.parent), str(folder))
        self._swallows, self._is_over = threading.Event(), False
        self._last_words: bytes | None = None
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / self._name))
        self._listener.listen(128)
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow(self) -> None:
        """From now on, nothing passes in either direction. Connections stay open."""
        self._swallows.set()

    def swallow_after(self, words: bytes) -> None:
        """The first statement with these words still reaches the server. Then nothing passes."""
        self._last_words = words

    def heal(self) -> None:
        """Lets new connections pass. Those that lost bytes are cut."""
        for pair in self._pairs:
            _cut(pair)
        self._pairs.clear()
        self._swallows.clear()

    def close(self) -> None:
        self._is_over = True
        _cut((self._listener, *(one for pair in self._pairs for one in pair)))

    def _accept(self) -> None:
        while not self._is_over:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._pairs.append((client, server))
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while content := source.recv(_SIZE):
                if not self._swallows.is_set():
                    self._look_for_last_words(content)
                    target.sendall(content)
        if not self._swallows.is_set():
            _cut((source, target))

    def _look_for_last_words(self, content: bytes) -> None:
        if self._last_words and self._last_words in content:
            self._last_words = None
            self._swallows.set()


def _socket_of(url: str) -> Path:
    """The file of a socket of PostgreSQL or Redis."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return Path(parts.path)
    query = parse_qs(parts.query)
    return Path(query["host"][0], f".s.PGSQL.{query['port'][0]}")


@contextmanager
def stalling_proxy(url: str, folder: Path) -> Iterator[StallingProxy]:
    proxy = StallingProxy(url, folder)
    try:
        yield proxy
    finally:
        proxy.close()


def _cut(sockets: tuple[socket.socket, ...]) -> None:
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
