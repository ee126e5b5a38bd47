"""Wakes a drainer after a commit: one coalesced Redis flag and one Celery message per lane.

A lost wake-up costs delay, never data: the compensator finds the rows.

A drain of a folded lane that delivered something opens a throttle window of CHANGE_THROTTLE_MS.
During the window no change of the lane wakes a drainer; one drain is scheduled for its end. So the
first change after a quiet time is delivered at once, and a busy lane is drained once a window: many
changes to one account become one write. The other lanes never wait.
"""

from functools import cache

import structlog
from celery import current_app
from django.conf import settings
from kombu.connection import Connection
from kombu.exceptions import OperationalError as BrokerError
from kombu.pools import producers
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.keys import key

# A flag without a drainer suppresses wake-ups for this long; the compensator drains during that
# time. A shorter time would fill the queue while no worker runs: one message a lane each time.
FLAG_TTL_MS = 30_000
TASK = "changes.drain_lane"
THROTTLED = b"throttled"
log = structlog.get_logger()


def wake(alias: str, lane: int) -> None:
    """Asks for a drain of the lane, unless one was asked for already.

    Raises nothing when Redis or the broker is away. Cost: one round trip, and a message to the
    broker for the first caller.
    """
    try:
        if redis().call("SET", flag_key(alias, lane), 1, "NX", "PX", FLAG_TTL_MS):
            _send(alias, lane)
    except RedisError as error:
        log.warning("wake_up.failed", alias=alias, lane=lane, error=str(error))


def acknowledge(alias: str, lane: int) -> None:
    """Clears the flag. Call it before the rows are read, so that a later commit wakes again."""
    try:
        redis().call("DEL", flag_key(alias, lane))
    except RedisError as error:
        log.warning("wake_up.flag_not_changed", alias=alias, lane=lane, error=str(error))


def throttle(alias: str, lane: int) -> None:
    """Opens a throttle window and schedules a drain at its end. Cost: a round trip, a message."""
    throttle_ms = settings.CHANGE_THROTTLE_MS
    try:
        redis().call("SET", flag_key(alias, lane), THROTTLED, "PX", FLAG_TTL_MS + throttle_ms)
        _send(alias, lane, ends_throttle=True, countdown_s=throttle_ms / 1000)
    except RedisError as error:
        log.warning("wake_up.flag_not_changed", alias=alias, lane=lane, error=str(error))


def is_throttled(alias: str, lane: int) -> bool:
    """Whether the lane is in a throttle window. False when Redis is away."""
    try:
        return bool(redis().call("GET", flag_key(alias, lane)) == THROTTLED)
    except RedisError:
        return False


def flag_key(alias: str, lane: int) -> bytes:
    return key("changes.wake_up:v1", f"{alias}:{lane}")


def _send(alias: str, lane: int, ends_throttle: bool = False, countdown_s: float = 0) -> None:
    arguments = (alias, lane, ends_throttle)
    try:
        with producers[_broker()].acquire(block=True) as producer:
            current_app.send_task(TASK, arguments, producer=producer, countdown=countdown_s or None)
    except BrokerError as error:
        log.warning("wake_up.not_sent", alias=alias, lane=lane, error=str(error))
        acknowledge(alias, lane)


@cache
def _broker() -> Connection:
    """A broker connection with the timeout of the cache, because a request waits for it.

    Celery's own connection waits for seconds and tries again.
    """
    timeout_s = settings.REDIS_TIMEOUT_MS / 1000
    limits = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "connect_retries_timeout": timeout_s,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
    }
    return current_app.connection_for_write(transport_options=limits)
