"""Which drainers run, for the status page.

changes.drainers:v1:{all}   a sorted set: the name of each drainer, by the time of its report
"""

import os
import socket
import time

from infra.caching.client import redis
from infra.caching.keys import key

REPORT_EVERY_S = 3
# A drainer that reported nothing for so long has ended, or hangs.
GONE_S = 10.0
DRAINERS = key("changes.drainers:v1", "all")


def report_drainer() -> None:
    """Says that the drainer of this process runs. One round trip. Raises: RedisError."""
    now, name = time.time(), f"{socket.gethostname()}:{os.getpid()}"
    too_old = f"({now - GONE_S}"
    redis().run([("ZADD", DRAINERS, now, name), ("ZREMRANGEBYSCORE", DRAINERS, "-inf", too_old)])


def list_drainers() -> list[str]:
    """The names (host:pid) of the drainers that run. One round trip. Raises: RedisError."""
    names = redis().call("ZRANGEBYSCORE", DRAINERS, time.time() - GONE_S, "+inf")
    return sorted(name.decode(errors="replace") for name in names)


def forget_drainer() -> None:
    """Says that the drainer of this process ends. One round trip. Raises: RedisError."""
    redis().call("ZREM", DRAINERS, f"{socket.gethostname()}:{os.getpid()}")
