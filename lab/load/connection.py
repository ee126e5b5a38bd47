"""A keep-alive HTTP connection that costs little compared with the server."""

import socket
from collections.abc import Mapping
from typing import Any

import orjson

_HEAD = "HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
_CONNECT_S = 10.0


def get_request(path: str, token: str) -> bytes:
    return f"GET {path} {_HEAD}{token}\r\n\r\n".encode()


def post_request(path: str, token: str, data: Mapping[str, Any]) -> bytes:
    body = orjson.dumps(data)
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    return f"POST {path} {_HEAD}{token}\r\n{kind}\r\n\r\n".encode() + body


class Connection:
    """`status`, `head` and `body`: of the last complete answer. The head is in lower case."""

    def __init__(self, address: tuple[str, int], source: str = "") -> None:
        """`source`: the own address, if it is not the usual one."""
        own = (source, 0) if source else None
        self.socket = socket.create_connection(address, _CONNECT_S, own)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.status = 0
        self.head = self.body = b""
        self._buffer = b""
        self._body_at = self._end = 0

    @property
    def is_closing(self) -> bool:
        """Whether the server closes it after this answer."""
        return b"\r\nconnection: close" in self.head

    def send(self, request: bytes) -> None:
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Reads available bytes. True when the answer is complete. Raises OSError."""
        received = self.socket.recv(1 << 16)
        if not received:
            raise ConnectionError("the server closed the connection")
        self._buffer += received
        if not self._end and not self._read_head():
            return False
        if len(self._buffer) < self._end:
            return False
        self.body = self._buffer[self._body_at :]
        self._buffer, self._end = b"", 0
        return True

    def _read_head(self) -> bool:
        head, separator, _ = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return False
        self.head = head.lower()
        self.status = int(head[9:12])
        length = self.head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        self._body_at = len(head) + 4
        self._end = self._body_at + int(length or 0)
        return True
