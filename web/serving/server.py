"""The main process: it starts the workers, and drains before it ends."""

import time
from functools import partial

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from web.draining import start_draining
from web.serving.limits import MOST_HEAD_BYTES, Limits
from web.serving.worker import run_worker

# Of a request's head, and of an idle connection.
_HEAD_MS = 15_000
# Connections of one process, most of them idle. Others wait in the kernel's queue.
_MOST_CONNECTIONS = 2048
_KERNEL_QUEUE = 1024


class TidelineServer(MPServer):
    """Serves an application. `linger_s`: for how long it still serves after SIGTERM."""

    def __init__(
        self,
        application: str,
        *,
        address: tuple[str, int],
        workers: int,
        linger_s: float,
        finish_s: int,
        limits: Limits,
    ) -> None:
        super().__init__(
            application,
            address=address[0],
            port=address[1],
            interface=Interfaces.RSGI,
            http=HTTPModes.http1,
            websockets=False,
            workers=workers,
            backlog=_KERNEL_QUEUE,
            backpressure=_MOST_CONNECTIONS,
            http1_settings=HTTP1Settings(
                header_read_timeout=_HEAD_MS, max_buffer_size=MOST_HEAD_BYTES
            ),
            respawn_failed_workers=True,
            workers_kill_timeout=finish_s,
            log_level=LogLevels.warning,
        )
        self._linger_s = linger_s
        self._limits = limits

    def run(self) -> None:
        self.serve(spawn_target=partial(run_worker, limits=self._limits))

    def shutdown(self, exit_code: int = 0) -> None:
        start_draining()
        time.sleep(self._linger_s)
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]
