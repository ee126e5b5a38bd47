"""A Redis or Valkey server on a unix socket. It writes no data to disk."""

import socket
from pathlib import Path
from signal import SIGKILL, SIGTERM

from lab.services.folders import ServiceFolders
from lab.services.machine import Binary
from lab.services.server import Server
from lab.services.server_user import ServerUser

_PING_TIMEOUT_S = 1.0


class RedisServer(Server):
    stop_signal = SIGTERM
    # Redis has no data to save, and SIGKILL ends a server that hangs.
    death_signal = SIGKILL

    def __init__(self, binary: Binary, folders: ServiceFolders, user: ServerUser) -> None:
        super().__init__("redis", folders.home / "redis.lock", folders.logs / "redis.log", user)
        self._binary = binary
        self._sockets = folders.sockets

    @property
    def url(self) -> str:
        return f"unix://{self._socket}?db=0"

    def command(self) -> list[str]:
        settings = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._sockets),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
        }
        options = [text for key, value in settings.items() for text in (f"--{key}", value)]
        return [str(self._binary.program), *options]

    def remove_leftovers(self) -> None:
        self._socket.unlink(missing_ok=True)

    def is_ready(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(_PING_TIMEOUT_S)
                client.connect(str(self._socket))
                client.sendall(b"PING\r\n")
                return client.recv(5) == b"+PONG"
        except OSError:
            return False

    @property
    def _socket(self) -> Path:
        return self._sockets / "redis.sock"
