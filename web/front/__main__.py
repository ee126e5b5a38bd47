"""The front: python -m web.front. It serves the tenants, and passes the rest to the installation.

SIGTERM ends it and the processes of the tenants.
"""

import asyncio
import os
import signal
import sys
from argparse import ArgumentParser, Namespace

import django
from django.core.exceptions import ImproperlyConfigured


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    options = _options()
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    asyncio.run(_serve(options))


async def _serve(options: Namespace) -> None:
    # Their models need django.setup().
    from django.conf import settings  # noqa: PLC0415

    from web.front.front import Front  # noqa: PLC0415
    from web.front.heads import MOST_HEAD_BYTES  # noqa: PLC0415
    from web.front.routes import Backend, Routes, ServerAddress  # noqa: PLC0415
    from web.front.tenants import KeptTenants  # noqa: PLC0415
    from web.startup import logged_service  # noqa: PLC0415

    own = Backend(ServerAddress(*options.web), ServerAddress(*options.streaming))
    routes = Routes(own, settings.ALLOWED_HOSTS)
    kept = KeptTenants(routes, options.workers)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    server = await asyncio.start_server(
        Front(routes).serve, options.host, options.port, limit=MOST_HEAD_BYTES
    )
    with logged_service("front", address=f"{options.host}:{options.port}"):
        keeping = asyncio.create_task(kept.keep())
        await stopped.wait()
        server.close()
        keeping.cancel()
        await kept.stop()


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m web.front", description="Serves several tenants.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument(
        "--web", type=_address, default="127.0.0.1:8000", help="the installation's web server"
    )
    parser.add_argument(
        "--streaming", type=_address, default="127.0.0.1:4000", help="its streaming process"
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="web processes of each tenant; one per core"
    )
    return parser.parse_args()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    main()
