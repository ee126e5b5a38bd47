"""Wakes a drainer after a commit: one coalesced Redis flag and one Celery message per lane.

A bell that is not heard costs delay, never data: the compensation schedule finds the rows.
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
log = structlog.get_logger()


def ring(alias: str, lane: int) -> None:
    """Asks for a drain unless one is asked for already.

    Never raises for Redis being away. Cost: one round trip; a millisecond for the one that asks.
    """
    try:
        if redis().call("SET", flag_key(alias, lane), 1, "NX", "PX", FLAG_TTL_MS):
            _send(alias, lane)
    except RedisError as error:
        log.warning("bell.unheard", alias=alias, lane=lane, error=str(error))


def answer(alias: str, lane: int) -> None:
    """Takes the flag down before the rows are read: a change committed later rings again."""
    try:
        redis().call("DEL", flag_key(alias, lane))
    except RedisError as error:
        log.warning("bell.stuck", alias=alias, lane=lane, error=str(error))


def flag_key(alias: str, lane: int) -> bytes:
    return key("changes.bell:v1", f"{alias}:{lane}")


def _send(alias: str, lane: int) -> None:
    try:
        with producers[_broker()].acquire(block=True) as producer:
            current_app.send_task(TASK, (alias, lane), producer=producer)
    except BrokerError as error:
        log.warning("bell.not_sent", alias=alias, lane=lane, error=str(error))
        answer(alias, lane)


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
