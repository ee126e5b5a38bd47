"""Wakes a drainer after a commit: one element in a Redis list for each database and group of lanes.

    changes.wake_up:v2:{shard0}:ordinary   a list of at most one element, which says nothing

A drainer blocks on the list (BLPOP) and removes the element before it reads rows. So a commit after
its read always wakes it again. A lost wake-up costs delay, never data: the thread of the ordinary
lanes looks at all lanes of its database once a second, and wakes the threads of the others.
"""

from collections.abc import Iterable, Sequence
from functools import cache

import structlog
from django.conf import settings
from redis.exceptions import RedisError

from infra.caching.client import Command, FeedRedis, connect_redis, redis
from infra.caching.keys import key
from infra.changes.lanes import LaneGroup, group_of

# The thread of the ordinary lanes looks at the lanes after this time if it is not woken.
QUIET_S = 1.0
# The other threads. The first one finds their rows too, unless it is busy.
OTHERS_QUIET_S = 5.0
log = structlog.get_logger()


def wake(alias: str, *lanes: int) -> None:
    """Wakes a drainer of each of the lanes. One round trip. Raises nothing when Redis is away.

    Then it wakes them when Redis answers.
    """
    try:
        redis().send(_push, alias, items=lanes)
    except RedisError as error:
        log.warning("wake_up.failed", alias=alias, lanes=lanes, error=str(error))


def _push(alias: str, lanes: Iterable[int]) -> None:
    redis().run(wake_commands(alias, lanes))


def wake_commands(alias: str, lanes: Iterable[int]) -> list[Command]:
    """The commands of `wake`, to send with others in one round trip."""
    lists = [wake_up_key(alias, group) for group in sorted({group_of(lane) for lane in lanes})]
    return [
        command
        for list_key in lists
        for command in (("LPUSH", list_key, 1), ("LTRIM", list_key, 0, 0))
    ]


def await_wake_up(alias: str, groups: Sequence[LaneGroup], timeout_s: float) -> bool:
    """Waits until a drainer of one of these groups is woken, and removes the wake-up.

    Returns False after `timeout_s`. Raises: RedisError at once when Redis is away.
    """
    lists = [wake_up_key(alias, group) for group in groups]
    # A write, so nothing needs to ask besides whether Redis takes writes.
    command = ("BLPOP", *lists, f"{timeout_s:.3f}")
    return _waiting_client(quiet_s_of(groups)).run_windowed([command]) != [None]


def quiet_s_of(groups: Iterable[LaneGroup]) -> float:
    """After how long a thread of these groups looks at its lanes without a wake-up."""
    return QUIET_S if LaneGroup.ORDINARY in groups else OTHERS_QUIET_S


def wake_up_key(alias: str, group: LaneGroup) -> bytes:
    return key("changes.wake_up:v2", alias, group.name.lower())


@cache
def _waiting_client(quiet_s: float) -> FeedRedis:
    """Its timeout is longer than that of `redis()`, because Redis answers BLPOP late."""
    return connect_redis(quiet_s + settings.REDIS_TIMEOUT_MS / 1000)
