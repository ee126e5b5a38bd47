"""A Redis that comes back with data from before."""

import time
from pathlib import Path

from redis import Redis

from infra.caching.connection import TRUSTED_S
from lab.services.redis import RedisServer
from tests.server_faults import kill


def save_dump(server: RedisServer) -> bytes:
    """The data of this moment."""
    with Redis.from_url(server.url) as admin:
        admin.save()
    path = _path(server)
    try:
        return path.read_bytes()
    finally:
        path.unlink()


def restart_with(server: RedisServer, dump: bytes) -> None:
    """Kills the server and starts it with these data."""
    kill(server)
    path = _path(server)
    path.write_bytes(dump)
    try:
        server.start()
    finally:
        path.unlink()
    time.sleep(TRUSTED_S)  # clients trust a connection that they used a moment ago


def _path(server: RedisServer) -> Path:
    return server._sockets / "dump.rdb"
