"""Runs the front until SIGTERM or SIGINT."""

import asyncio
import signal
import sys
from argparse import Namespace

from django.conf import settings

from web.front.front import Front
from web.front.heads import MOST_HEAD_BYTES
from web.front.routes import Backend, Routes, ServerAddress
from web.front.tenants import KeptTenants
from web.startup import logged_service


def serve(options: Namespace) -> None:
    """`options`: of __main__.py. Ends the process if the port cannot be opened."""
    asyncio.run(_serve(options))


async def _serve(options: Namespace) -> None:
    own = Backend(ServerAddress(*options.web), ServerAddress(*options.streaming))
    routes = Routes(own, settings.ALLOWED_HOSTS)
    serving, place = Front(routes).serve, (options.host, options.port)
    try:
        server = await asyncio.start_server(serving, *place, limit=MOST_HEAD_BYTES)
    except OSError as error:
        sys.exit(f"The front cannot listen at {place[0]}:{place[1]}: {error.strerror}")
    kept = KeptTenants(routes, options.workers)
    with logged_service("front", address=f"{place[0]}:{place[1]}"):
        try:
            await _until_stopped(asyncio.create_task(kept.keep()))
        finally:
            server.close()
            await kept.stop()


async def _until_stopped(keeping: asyncio.Task[None]) -> None:
    """Raises what ends the keeping of tenants: a fault of ours, after which this process ends."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait({stopping, keeping}, return_when=asyncio.FIRST_COMPLETED)
    if keeping.done():
        keeping.result()
    keeping.cancel()
