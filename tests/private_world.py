"""This process on servers of its own, which a test may kill, hang and bring back."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from config.environment import Environment
from infra.caching.client import forget_client
from infra.changes.models import Change
from infra.sharding.bounded.breaker import reset_breakers
from infra.sharding.identity import _installations
from infra.sharding.map_copy import MapCopy
from infra.sharding.replicas import replicas_of
from infra.sharding.scatter import _threads
from infra.sharding.shards import all_aliases
from lab.services import RunningServices
from lab.services.server import Server
from tests.replica_servers import ReplicatedServices
from tests.server_faults import resume
from tests.services import migrated_services
from tests.waiting import until
from tests.world import clean, drain_all, forget_memory

# By alias, for the same reason as below: a thread may ask replicas of one world, then of another.
_replicas_before: dict[str, dict[str, Any]] = {}
# Tests pause the Redis of such a world, and wait so long for it once.
REDIS_TIMEOUT_MS = 4_000


@pytest.fixture(scope="session")
def private_servers() -> Iterator[RunningServices]:
    """Servers for the private worlds of a session."""
    with migrated_services() as services:
        yield services


@pytest.fixture(scope="module")
def private(
    private_servers: RunningServices, django_db_blocker: DjangoDbBlocker
) -> Iterator[RunningServices]:
    """This process on servers of its own, for the tests of a module."""
    with django_db_blocker.unblock(), using_servers(private_servers):
        yield private_servers


@pytest.fixture
def services(private: RunningServices) -> Iterator[RunningServices]:
    """Its servers, whole when the test begins."""
    with whole(private):
        yield private


@contextmanager
def whole(services: RunningServices) -> Iterator[RunningServices]:
    """All servers of a private world up and empty, whatever the test before did to them."""
    for server in services.servers:
        bring_back(server)
    forget_connections()
    clean()
    yield services


def bring_back(server: Server) -> None:
    """It runs again, killed or hung."""
    resume(server)
    if not server.is_running:
        server.start()


def catch_up() -> None:
    """Drains again and again until nothing is left: what failed is tried again in a second."""

    def is_done() -> bool:
        for connection in connections.all():  # as each request and each task does first
            connection.close_if_unusable_or_obsolete()
        drain_all()
        return not any(Change.objects.on(alias).exists() for alias in all_aliases())

    until(is_done)


@contextmanager
def using_servers(services: RunningServices) -> Iterator[None]:
    """Connections keep the dictionary they were made from, so it is changed in place."""
    before = {alias: dict(connections.databases[alias]) for alias in all_aliases()}
    url = services.environment()["REDIS_URL"]
    servers = services.replicas if isinstance(services, ReplicatedServices) else {}
    aliases = (
        {shard: services.replica_aliases(shard) for shard in settings.SHARD_ALIASES}
        if servers
        else {}
    )
    try:
        for alias, server in services.postgres.items():
            where = Environment().database(alias, server.url)
            connections.databases[alias].update(
                {name: where[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
            )
        for name, replica in servers.items():
            held = _replicas_before.setdefault(name, {})
            held.update(_replica_settings(name.partition("_")[0], replica.url))
            connections.databases[name] = held
        forget_connections()
        own = {"REDIS_URL": url, "REPLICA_ALIASES": aliases, "REDIS_TIMEOUT_MS": REDIS_TIMEOUT_MS}
        with override_settings(**own):
            yield
            forget_connections()
    finally:
        for alias, kept in before.items():
            connections.databases[alias].update(kept)
        for alias in servers:
            del connections.databases[alias]
        forget_connections()


def _replica_settings(shard: str, url: str) -> dict[str, Any]:
    """As config.settings has them."""
    like = connections.databases[shard]
    kept = {name: like[name] for name in ("CONN_MAX_AGE", "DISABLE_SERVER_SIDE_CURSORS")}
    return like | Environment().replica(shard, url, kept, shard, settings.REPLICA_TIMEOUT_MS)


def forget_connections() -> None:
    _close_here()
    for alias in [*all_aliases(), *chain.from_iterable(settings.REPLICA_ALIASES.values())]:
        _close_in_threads(_threads(alias))
    replicas_of.cache_clear()
    reset_breakers()
    forget_client()
    MapCopy.forget()
    _installations.clear()
    forget_memory()


def _close_here() -> None:
    """The next connections may lead to other servers or to pools, and get their wrappers."""
    connections.close_all()
    for connection in connections.all(initialized_only=True):
        connection.execute_wrappers.clear()


def _close_in_threads(pool: ThreadPoolExecutor) -> None:
    """Every thread of a pool has connections of its own, which only it can close."""
    threads = len(pool._threads)
    together = threading.Barrier(threads) if threads else None

    def close() -> None:
        together.wait()
        _close_here()

    for closed in [pool.submit(close) for _ in range(threads)]:
        closed.result()
