"""The streaming server: python -m web.streaming.

After SIGTERM or SIGINT it takes no new streams, ends those that it has within `--linger` seconds, a
part at a time, and ends. Clients come back to another process and say where they were.
"""

import multiprocessing
import sys
from argparse import ArgumentParser, Namespace

from django.conf import settings

from web.draining import share_byte
from web.startup import logged_service, prepare_to_serve
from web.streaming.serving.server import StreamingServer


def main() -> None:
    if sys.platform == "linux":
        # Spawned workers would not share the byte of web.draining.
        multiprocessing.set_start_method("fork")
    share_byte()
    options = _options()
    prepare_to_serve(options.when_ready)
    address = (options.host, options.port)
    server = StreamingServer(
        address, options.workers, settings.STREAMING_CONNECTIONS, options.linger
    )
    with logged_service("streaming", address=f"{address[0]}:{address[1]}", workers=options.workers):
        server.run()


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m web.streaming", description="Streams what happens.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=4000)
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    parser.add_argument(
        "--linger", type=float, default=1.5, help="seconds for streams to end after SIGTERM"
    )
    parser.add_argument(
        "--when-ready", action="store_true", help="open the port when migrate_shards has run"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
