"""Which drainers run, for the status page.

changes.drainers:v1:{all}   a sorted set: the name of each drainer, by the time of its report

When Redis is back, a web server goes on without it until the drain has caught up.

While Redis hung, pages were made from the shards, and the drain could not bring Redis up to date.
Redis kept its data, so counts and lists in it are behind what those pages have shown. Timelines
that were shown do not depend on this wait.
"""

import os
import socket
import time
from functools import partial

from django.db import Error

from infra.caching.client import redis, wait_before_recovery
from infra.caching.keys import key
from infra.changes.lanes import LaneGroup, all_lanes
from infra.sharding.placement import known_shards
from infra.sharding.scatter import submit
from infra.sharding.sql import fetch_one
from infra.telemetry.reached_branches import reached

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


# Without a drain, or with one that is far behind, pages need Redis more than this.
MOST_S = 5.0
WAITS = """
SELECT 1 FROM changes_change
WHERE lane = ANY(%s) AND state = 0 AND created_at < to_timestamp(%s) LIMIT 1
"""


def wait_for_drain() -> None:
    """For processes that serve requests. A drainer would wait for itself."""
    wait_before_recovery(has_caught_up)


def has_caught_up(since_s: float) -> bool:
    """Whether the shards have delivered all urgent changes from before this Unix time.

    True also MOST_S later. A shard that does not answer has no say: its posts are not shown either.
    Cost: a query on each shard, on the threads of `scatter`.
    """
    if time.time() - since_s > MOST_S:
        return True
    asked = [submit(alias, partial(_waits, alias, since_s)) for alias in known_shards()]
    if any(database.result() for database in asked):
        reached("recovery.waited_for_drain")
        return False
    return True


def _waits(alias: str, since_s: float) -> bool:
    lanes = all_lanes((LaneGroup.ORDINARY, LaneGroup.BULK))
    try:
        return fetch_one(alias, WAITS, (lanes, since_s)) is not None
    except Error:
        return False
