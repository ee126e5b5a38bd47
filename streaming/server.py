"""The main process: it starts the worker, and drains before it ends."""

import time

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from web.draining import start_draining

_HEAD_MS = 15_000
_MOST_HEAD_BYTES = 64 * 1024
# Connections that wait in the kernel's queue: all clients come back at once after a restart.
_KERNEL_QUEUE = 4_096
# Besides the streams: who is refused, and health checks. Granian would let them wait.
_SPARE_CONNECTIONS = 1_000


class StreamingServer(MPServer):
    """`most`: open streams of a process. `linger_s`: for the streams to end after SIGTERM."""

    def __init__(self, address: tuple[str, int], workers: int, most: int, linger_s: float) -> None:
        super().__init__(
            "streaming.asgi:application",
            address=address[0],
            port=address[1],
            interface=Interfaces.ASGI,
            http=HTTPModes.http1,
            websockets=True,
            workers=workers,
            backlog=_KERNEL_QUEUE,
            backpressure=most + _SPARE_CONNECTIONS,
            http1_settings=HTTP1Settings(
                header_read_timeout=_HEAD_MS, max_buffer_size=_MOST_HEAD_BYTES
            ),
            respawn_failed_workers=True,
            workers_kill_timeout=5,
            log_level=LogLevels.warning,
        )
        self._linger_s = linger_s

    def shutdown(self, exit_code: int = 0) -> None:
        start_draining()
        time.sleep(self._linger_s)
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]
