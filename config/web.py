"""The web server: python -m config.web. It is Granian, which drains before it ends.

After SIGTERM or SIGINT the server still serves for `--linger` seconds. During that time
/health/ready is 503, so that a proxy sends no new requests, and each answer closes its connection.
Then the server accepts no more requests, finishes those it has, and ends. Without draining, a
request that arrives on an idle connection just as the server closes it would be lost.
"""

import multiprocessing
import sys
import time
from argparse import ArgumentParser, Namespace

from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.mp import MPServer

from config.draining import start_draining


class DrainingServer(MPServer):
    """Set `linger_s` before `serve`."""

    linger_s = 0.0

    def shutdown(self, exit_code: int = 0) -> None:
        start_draining()
        time.sleep(self.linger_s)
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]


def main() -> None:
    if sys.platform == "linux":
        # Spawned workers would not share the byte of config.draining.
        multiprocessing.set_start_method("fork")
    options = _options()
    server = DrainingServer(
        "config.wsgi:application",
        address=options.host,
        port=options.port,
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        workers=options.workers,
        blocking_threads=options.threads,
        respawn_failed_workers=True,
        workers_kill_timeout=options.finish,
        log_level=LogLevels.warning,
    )
    server.linger_s = options.linger
    server.serve()


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m config.web", description="Serves Tideline by HTTP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1, help="number of processes; one per core")
    parser.add_argument("--threads", type=int, default=4, help="threads of each process")
    parser.add_argument("--linger", type=float, default=2.0, help="seconds to serve after SIGTERM")
    parser.add_argument(
        "--finish", type=int, default=25, help="seconds to finish open requests after that"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
