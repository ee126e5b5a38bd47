"""The web server: python -m config.web. Granian, which says that it leaves before it does.

After SIGTERM or SIGINT it serves on for `--linger` seconds. In that time /health/ready is 503, so
that no proxy begins anything new here, and each answer closes its connection. Then it takes
nothing more, finishes what it has, and ends. Without it a request that is sent on an idle
connection in the moment that connection is closed would be lost.
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
    """`linger_s` is set before it serves."""

    linger_s = 0.0

    def shutdown(self, exit_code: int = 0) -> None:
        start_draining()
        time.sleep(self.linger_s)
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]


def main() -> None:
    if sys.platform == "linux":
        # Workers that were spawned anew would not share the byte.
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
    parser.add_argument("--workers", type=int, default=1, help="processes; as many as cores")
    parser.add_argument("--threads", type=int, default=4, help="of each process")
    parser.add_argument("--linger", type=float, default=2.0, help="seconds it serves on")
    parser.add_argument("--finish", type=int, default=25, help="seconds for what it has then")
    return parser.parse_args()


if __name__ == "__main__":
    main()
