"""Wakes a drainer after a commit: one coalesced Redis flag and one Celery message per lane.

A bell that is not heard costs delay, never data: the compensation schedule finds the rows.

A lane that had something to deliver rests: the bell is silent for CHANGE_THROTTLE_MS, then it is
drained again. So a busy lane is drained in rounds, what many did to one account is one write a
round, and the first change after a quiet time is delivered at once.
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

# How long a flag without a drainer keeps the bell silent. Not shorter: without a worker the queue
# would grow by a message a lane in this time. Meanwhile the compensation schedule drains.
FLAG_TTL_MS = 30_000
TASK = "changes.drain_lane"
THROTTLED = b"throttled"
log = structlog.get_logger()


def wake(alias: str, lane: int) -> None:
    """Asks for a drain unless one is asked for already.

    Never raises for Redis being away. Cost: one round trip; a millisecond for the one that asks.
    """
    try:
        if redis().call("SET", flag_key(alias, lane), 1, "NX", "PX", FLAG_TTL_MS):
            _send(alias, lane)
    except RedisError as error:
        log.warning("wake_up.failed", alias=alias, lane=lane, error=str(error))


def acknowledge(alias: str, lane: int) -> None:
    """Takes the flag down before the rows are read: a change committed later rings again."""
    try:
        redis().call("DEL", flag_key(alias, lane))
    except RedisError as error:
        log.warning("wake_up.flag_not_changed", alias=alias, lane=lane, error=str(error))


def throttle(alias: str, lane: int) -> None:
    """Silences it, and asks for a drain in CHANGE_THROTTLE_MS. Cost: a round trip, a message."""
    throttle_ms = settings.CHANGE_THROTTLE_MS
    try:
        redis().call("SET", flag_key(alias, lane), THROTTLED, "PX", FLAG_TTL_MS + throttle_ms)
        _send(alias, lane, ends_throttle=True, countdown_s=throttle_ms / 1000)
    except RedisError as error:
        log.warning("wake_up.flag_not_changed", alias=alias, lane=lane, error=str(error))


def is_throttled(alias: str, lane: int) -> bool:
    """Whether a drain is asked for that is not due yet."""
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
    """A connection that gives up as soon as the cache does: a request is waiting.

    Celery's own waits for seconds, and tries again.
    """
    timeout_s = settings.REDIS_TIMEOUT_MS / 1000
    patience = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "connect_retries_timeout": timeout_s,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
    }
    return current_app.connection_for_write(transport_options=patience)
