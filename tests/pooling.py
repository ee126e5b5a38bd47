"""Servers behind a PgBouncer, and this process as a web server that uses it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from django.db import connections
from django.test import override_settings

from config.environment import Environment
from infra.sharding.pooled import use
from infra.sharding.pooled.use import use_pools
from infra.sharding.shards import all_aliases
from lab.services import RunningServices
from tests.pgbouncer import REASON, find_pgbouncer, running_pgbouncer
from tests.private_world import forget_connections

# By alias: the databases without their pools, while this process uses those.
_direct: dict[str, dict[str, object]] = {}


@pytest.fixture(scope="session")
def pgbouncer() -> list[str]:
    return find_pgbouncer() or pytest.skip(REASON)


@pytest.fixture
def pooled(pgbouncer: list[str], services: RunningServices) -> Iterator[dict[str, str]]:
    """This process connects through pools. Gives the variables for other web processes."""
    with running_pgbouncer(pgbouncer, services) as environment, using_pools(environment):
        yield environment


@contextmanager
def using_pools(environment: Mapping[str, str]) -> Iterator[None]:
    """As a web server does."""
    before = {alias: dict(connections.databases[alias]) for alias in all_aliases()}
    try:
        _direct.update(before)
        with naming_pools(environment):
            use_pools()
            forget_connections()
            use._fit.clear()
            yield
    finally:
        for alias, kept in before.items():
            connections.databases[alias].update(kept)
        forget_connections()
        use._fit.clear()


@contextmanager
def connected_directly() -> Iterator[None]:
    """Inside `using_pools`: as a worker or a command."""
    pooled = {alias: dict(connections.databases[alias]) for alias in all_aliases()}
    try:
        for alias in all_aliases():
            connections.databases[alias].update(_direct[alias])
        forget_connections()
        yield
    finally:
        for alias, kept in pooled.items():
            connections.databases[alias].update(kept)
        forget_connections()


@contextmanager
def naming_pools(environment: Mapping[str, str]) -> Iterator[None]:
    """As the settings do for every process."""
    urls = [
        environment["POOLED_DATABASE_URL"],
        *environment["POOLED_SHARD_DATABASE_URLS"].split(","),
    ]
    entries = {
        alias: Environment().pooled(alias, url, connections.databases[alias])
        for alias, url in zip(all_aliases(), urls, strict=True)
    }
    with override_settings(POOLED_DATABASES=entries):
        yield
