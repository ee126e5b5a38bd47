"""The web server: python -m web. It is Granian, which drains before it ends.

After SIGTERM or SIGINT the server still serves for `--linger` seconds. During that time
/health/ready is 503, so that a proxy sends no new requests, and each answer closes its connection.
Then the server accepts no more requests, finishes those it has, and ends. Without draining, a
request that arrives on an idle connection just as the server closes it would be lost.
"""

import multiprocessing
import sys
from argparse import ArgumentParser, Namespace

from web.draining import share_byte
from web.serving.limits import Limits
from web.serving.server import TidelineServer
from web.startup import logged_service, prepare_to_serve


def main() -> None:
    if sys.platform == "linux":
        # Spawned workers would not share the byte of web.draining.
        multiprocessing.set_start_method("fork")
    share_byte()
    options = _options()
    prepare_to_serve(options.when_ready)
    server = TidelineServer(
        "web.wsgi:application",
        address=(options.host, options.port),
        workers=options.workers,
        linger_s=options.linger,
        finish_s=options.finish,
        limits=Limits(options.threads, options.wait, options.body, options.upload),
    )
    with logged_service("web", address=f"{options.host}:{options.port}", workers=options.workers):
        server.run()


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m web", description="Serves Tideline by HTTP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1, help="number of processes; one per core")
    parser.add_argument("--threads", type=int, default=4, help="threads of each process")
    parser.add_argument(
        "--wait", type=float, default=1.0, help="seconds that a request may wait for a thread"
    )
    parser.add_argument(
        "--body", type=float, default=10.0, help="seconds that a request's body may take to arrive"
    )
    parser.add_argument(
        "--upload", type=float, default=60.0, help="the same for a body with images"
    )
    parser.add_argument("--linger", type=float, default=2.0, help="seconds to serve after SIGTERM")
    parser.add_argument(
        "--finish", type=int, default=25, help="seconds to finish open requests after that"
    )
    parser.add_argument(
        "--when-ready",
        action="store_true",
        help="open the port when migrate_shards has run; be ready when a worker has reported",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
