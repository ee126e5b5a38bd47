"""The main process: it starts the workers, and drains before it ends."""

import socket
import sys
import time
from functools import partial

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.net import SocketSpec  # type: ignore[attr-defined]
from granian.server.mp import MPServer

from web.draining import start_draining
from web.streaming.serving.worker import run_worker

# Besides the streams: who is refused, and health checks.
_SPARE_CONNECTIONS = 1_000
# The kernel asks a silent client after SILENT_S whether it is there, and ends the connection when
# it has acknowledged nothing for DEAD_AFTER_S: no answer, or it reads no more of what waits for it.
SILENT_S, ASK_EVERY_S, DEAD_AFTER_S = 20, 10, 45


class StreamingServer(MPServer):
    """`most`: open streams of a process. `linger_s`: for the streams to end after SIGTERM."""

    def __init__(self, address: tuple[str, int], workers: int, most: int, linger_s: float) -> None:
        super().__init__(
            "web.streaming.asgi:application",
            address=address[0],
            port=address[1],
            interface=Interfaces.ASGI,
            workers=workers,
            respawn_failed_workers=True,
            workers_kill_timeout=5,
            log_level=LogLevels.warning,
        )
        self._linger_s, self._most = linger_s, most

    def run(self) -> None:
        self.serve(spawn_target=partial(run_worker, most=self._most + _SPARE_CONNECTIONS))

    def _init_shared_socket(self) -> None:
        """One socket that all workers listen to, as Granian has it on other systems than Linux.

        On Linux each worker would open its own, where no option can be set.
        """
        holder = SocketSpec(self.bind_addr, self.bind_port, self.backlog).build()
        self._sso = socket.socket(fileno=holder.get_fd())
        self._sso.set_inheritable(True)
        find_dead_peers(self._sso)
        self._shd = holder  # type: ignore[assignment]  # its types are inferred

    def shutdown(self, exit_code: int = 0) -> None:
        start_draining()
        time.sleep(self._linger_s)
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]


def find_dead_peers(listening: socket.socket) -> None:
    """Connections that this socket accepts have its options. They end DEAD_AFTER_S after their peer
    has gone without a word, so its place is free. Nothing sends pings of WebSocket."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT_S)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, ASK_EVERY_S)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_AFTER_S * 1000)
