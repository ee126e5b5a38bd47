"""Wakes a drainer after a commit: one coalesced Redis flag and one Celery message per lane.

A bell that is not heard costs delay, never data: the compensation schedule finds the rows.
"""

import structlog
from celery import current_app
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.keys import key

# Longer than a drainer needs to hear it; short enough that a lost message is soon rung again.
FLAG_TTL_MS = 2_000
TASK = "changes.drain_lane"
log = structlog.get_logger()


def ring(alias: str, lane: int) -> None:
    """Asks for a drain unless one is asked for already. Never raises for Redis being away."""
    try:
        if redis().call("SET", flag_key(alias, lane), 1, "NX", "PX", FLAG_TTL_MS):
            current_app.send_task(TASK, (alias, lane))
    except (RedisError, BrokerError) as error:
        log.warning("bell.unheard", alias=alias, lane=lane, error=str(error))


def answer(alias: str, lane: int) -> None:
    """Takes the flag down before the rows are read: a change committed later rings again."""
    try:
        redis().call("DEL", flag_key(alias, lane))
    except RedisError as error:
        log.warning("bell.stuck", alias=alias, lane=lane, error=str(error))


def flag_key(alias: str, lane: int) -> bytes:
    return key("changes.bell:v1", f"{alias}:{lane}")
