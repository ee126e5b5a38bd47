"""Health endpoints: `live` says that the process answers, `ready` says which stores it reaches.

Ready needs the default database, that each database that answers is the right one and has the
schema of this code, and a worker if the server waits for one. Without a shard or Redis
the process still serves the accounts of the other shards. Without a replica, another one or the
shard answers the reads. Without the store of images everything but uploads works.
"""

import time
from functools import partial

import orjson
from django.http import HttpRequest, HttpResponse
from redis.exceptions import RedisError

from accounts.images.checks import try_store
from accounts.images.errors import ImagesUnavailable
from infra.api.rendering import json_response
from infra.caching.redis_state import read_redis_state
from infra.changes.running_drainers import list_drainers
from infra.sharding.database_info import read_database_state
from infra.sharding.placement import GLOBAL_ALIAS, known_shards
from infra.sharding.probe import CachedProbe
from infra.sharding.readiness import was_ready
from infra.sharding.replica import Replica
from infra.sharding.replicas import replicas_of
from infra.store_states import StoreState
from web.draining import is_draining

# A web server that is started while all workers are away serves after this time.
LONGEST_S = 60.0
# Nothing is cached: calls at the same time share one probe of a store.
PROBE: CachedProbe[str] = CachedProbe(valid_s=0, deadline_s=5.0)
# A try writes and deletes a file, so it is not made for each question. Short: a balancer waits.
IMAGES: CachedProbe[str] = CachedProbe(valid_s=10.0, deadline_s=0.5)
# What does not keep a server out of the rotation: it serves the accounts of the other shards.
AWAY = {state.value for state in StoreState if state != StoreState.UNUSABLE}


class _Waiting:
    """`until_s`: on the monotonic clock; 0: this process does not wait for a worker."""

    until_s = 0.0


def live(request: HttpRequest) -> HttpResponse:
    return json_response(b'{"status":"ok"}')


def plain(request: HttpRequest) -> HttpResponse:
    """As `live`, at the address and in the form that Mastodon's clients expect."""
    return HttpResponse("OK", "text/plain")


def ready(request: HttpRequest) -> HttpResponse:
    """`{"status": …, "stores": {name: StoreState, or why it cannot be used}}`.

    503 without the default database, while a database that was never ready cannot be used, while
    this web server waits for a worker, and while it drains.
    """
    shards = known_shards()
    replicas = [replica for alias in shards for replica in replicas_of(alias).all]
    calls = {alias: partial(_check_database, alias) for alias in shards}
    calls |= {replica.alias: partial(_check_replica, replica) for replica in replicas}
    stores = {GLOBAL_ALIAS: _check_database(GLOBAL_ALIAS)}
    stores |= dict.fromkeys(calls, StoreState.HANGS.value) | PROBE.ask(calls)
    stores["redis"] = read_redis_state().value
    stores["images"] = IMAGES.ask({"images": _check_images}).get("images", StoreState.HANGS.value)
    is_ready = _answers(stores[GLOBAL_ALIAS]) and all(
        stores[alias] in AWAY or was_ready(alias) for alias in (GLOBAL_ALIAS, *shards)
    )
    is_whole = all(state == "ok" for state in stores.values())
    status = "ok" if is_whole else "degraded" if is_ready else "unavailable"
    if is_ready and not is_delivering():
        status, is_ready = "waiting for a worker", False
    if is_draining():
        status, is_ready = "draining", False
    body = orjson.dumps({"status": status, "stores": stores})
    return json_response(body, status=200 if is_ready else 503)


def _check_database(alias: str) -> str:
    """A state, or why the database must not be used."""
    state, why = read_database_state(alias)
    return why if state == StoreState.UNUSABLE else state.value


def _answers(shown: str) -> bool:
    return shown in AWAY - {StoreState.UNREACHABLE, StoreState.HANGS}


def _check_replica(replica: Replica) -> str:
    return "ok" if replica.check() else "left alone"


def _check_images() -> str:
    try:
        try_store()
    except ImagesUnavailable as error:
        return error.why
    return "ok"


def wait_for_delivery() -> None:
    """From now on `is_delivering` is False until a worker reports, for LONGEST_S at most."""
    _Waiting.until_s = time.monotonic() + LONGEST_S


def is_delivering() -> bool:
    """True for good after the first time. Cost until then: one round trip. Without Redis: True."""
    if time.monotonic() < _Waiting.until_s and not _has_worker():
        return False
    _Waiting.until_s = 0.0
    return True


def _has_worker() -> bool:
    try:
        return bool(list_drainers())
    except RedisError:
        return True
