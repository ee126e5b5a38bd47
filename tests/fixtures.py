"""Fixtures: test databases for the session, a clean world for each test.

Commits are real (races and drains need them), so a test cleans up by deleting rows, not by
rolling back.
"""

from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest
from django.core import management
from django.db import connections
from django.test.utils import setup_databases, teardown_databases
from pytest_django import DjangoDbBlocker

from infra.caching.client import redis
from infra.caching.scripts import scripts_by_sha
from infra.changes import append
from infra.jobs import findings
from infra.sharding.identity import create_identity
from infra.sharding.new_database import create_schema
from infra.sharding.shards import all_aliases
from relations.jobs import audit_forward
from tests.disconnected_process import disconnected_reader
from tests.redis_away import wait_for_redis
from tests.world import clean, drain_all, forget_keys
from timelines.increments.queries import forget_increments
from timelines.promotions.blend import forget_promotions
from timelines.stores.factory import timeline_store
from timelines.stores.generation import start_generation


@pytest.fixture(scope="session")
def databases(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Test databases on every server, migrated, named after the xdist worker."""
    with django_db_blocker.unblock():
        with patch.object(management, "call_command", _migrate_new):
            made = setup_databases(verbosity=0, interactive=False, serialized_aliases=[])
        for alias in all_aliases():
            create_identity(alias)
        yield
        _end_other_sessions()
        teardown_databases(made, verbosity=0)


def _migrate_new(
    command: str,
    database: str,
    call: Callable[..., object] = management.call_command,
    **options: object,
) -> None:
    """As migrate_shards does: migrations one by one take five seconds."""
    if command == "migrate":
        create_schema(database)
    call(command, database=database, **options)


def _end_other_sessions() -> None:
    """Threads of tests and of scatter keep their connections; a database in use cannot go."""
    for connection in connections.all():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session", autouse=True)
def scripts() -> None:
    """Known to the server: else whichever test is the first to run one counts a trip too many."""
    redis().run([("SCRIPT", "LOAD", script.body) for script in scripts_by_sha.values()])


@pytest.fixture(scope="session", autouse=True)
def comparing() -> Iterator[None]:
    """Audits compare what differs as often as ever, and do not wait in between for a drain."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (findings, audit_forward):
            patch.setattr(module, "COMPARE_EVERY_S", 0.0)
        yield


@pytest.fixture
def world(databases: None, redis_kind: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Databases and Redis, empty. The rows that a test leaves are deleted before the next one."""
    with django_db_blocker.unblock():
        clean()
        _begin_generation()
        yield
        forget_increments()  # its thread would ask Redis while other tests count
        forget_promotions()  # and this one's the default database
        wait_for_redis()
        forget_keys()


def _begin_generation() -> None:
    """As after a restart: else timelines of this process are dead for one that starts after a test
    with another store. The first call in a process asks the default database."""
    start_generation.cache_clear()
    timeline_store.cache_clear()
    timeline_store()


@pytest.fixture
def drain(world: None) -> Callable[[], int]:
    """Call it to deliver every pending change; returns how many were."""
    return drain_all


@pytest.fixture
def disconnected(world: None) -> Iterator[Callable[..., str]]:
    """Asks another web process (disconnected_reader)."""
    with disconnected_reader() as say:
        yield say


@pytest.fixture
def delivered_at_once(world: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a worker that is quicker than the next read: others see each write."""
    monkeypatch.setattr(append, "_wake_drainers", lambda *_: drain_all())
