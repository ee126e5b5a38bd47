"""Servers of a module's own, each shard with streaming replicas that are up to date."""

import pytest

from tests.services import migrated_services


@pytest.fixture(scope="module")
def replica_counts():
    """How many replicas a shard has. A module may have others."""
    return {f"shard{number}": 1 for number in range(4)}


@pytest.fixture(scope="module")
def private(django_db_blocker, replica_counts):
    from tests.private_world import using_servers  # noqa: PLC0415 - has models

    with (
        migrated_services(replica_counts) as services,
        django_db_blocker.unblock(),
        using_servers(services),
    ):
        yield services


@pytest.fixture
def services(services):
    from tests.replicas import catch_replicas_up  # noqa: PLC0415 - has models

    catch_replicas_up(services)
    return services


@pytest.fixture
def steady(monkeypatch):
    """What was found of a replica holds for the whole test."""
    monkeypatch.setattr("infra.sharding.replica.CHECK_VALID_S", 3_600)
    monkeypatch.setattr("infra.sharding.replica.CHECK_EVERY_S", 3_600)


@pytest.fixture
def on_shard0(services):
    """An account there."""
    from infra.sharding.buckets import shard_of  # noqa: PLC0415 - has models
    from tests.world import make_accounts  # noqa: PLC0415

    return next(one for one in make_accounts(12) if shard_of(one) == "shard0")
