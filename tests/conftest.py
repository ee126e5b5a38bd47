"""Fixtures: real PostgreSQL shards and Redis for the session, a clean world for each test.

Commits are real (races and drains need them), so a test cleans up by deleting rows, not by
rolling back. Every xdist worker has its own databases and its own Redis database number.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator

import django
import pytest
from django.db import connections
from django.test.utils import setup_databases, teardown_databases
from pytest_django import DjangoDbBlocker

from tests.services import SessionServices, start_for_session

_services = pytest.StashKey[SessionServices]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Servers first, settings second: those read the servers' URLs. Workers inherit them."""
    os.environ.setdefault("DEVELOPMENT", "1")
    os.environ.setdefault("ALLOW_PASSWORD_GRANT", "1")
    # A crowded machine is not a hung Redis; tests of the time-out start servers of their own.
    os.environ.setdefault("REDIS_TIMEOUT_MS", "5000")
    # All tests ask from one address, and page as fast as they can; those of limits set their own.
    os.environ.setdefault("QUOTA_PER_ADDRESS", "1000000")
    os.environ.setdefault("DEEP_PAGES_PER_S", "1000000")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        config.stash[_services] = start_for_session()
        os.environ["RUNTIME_DIR"] = tempfile.mkdtemp(prefix="tideline-run-")
    else:
        # Redis has numbered databases; PostgreSQL's are named by pytest-django.
        number = int(worker.removeprefix("gw")) + 1
        os.environ["REDIS_URL"] = os.environ["REDIS_URL"].replace("db=0", f"db={number}")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    if worker is None:
        # A worker that inherited this would read the settings before its own Redis number is set.
        del os.environ["DJANGO_SETTINGS_MODULE"]


def pytest_unconfigure(config: pytest.Config) -> None:
    services = config.stash.get(_services, None)
    if services is not None:
        services.stop()
        shutil.rmtree(os.environ["RUNTIME_DIR"])


@pytest.fixture(scope="session")
def databases(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Test databases on every server, migrated, named after the xdist worker."""
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False, serialized_aliases=[])
        yield
        _end_other_sessions()
        teardown_databases(made, verbosity=0)


def _end_other_sessions() -> None:
    """Threads of tests and of scatter keep their connections; a database in use cannot go."""
    for connection in connections.all():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session", autouse=True)
def listening() -> None:
    """When a process begins to hear of changes all copies fall: not while a test counts calls."""
    from infra.caching.listener import LISTENER, LISTENING  # noqa: PLC0415

    LISTENER.start()
    deadline = time.monotonic() + 30
    while not LISTENING.collect()[0].samples[0].value and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture(scope="session", autouse=True)
def scripts() -> None:
    """Known to the server: else whichever test is the first to run one counts a trip too many."""
    from infra.caching.client import _known, redis  # noqa: PLC0415

    redis().run([("SCRIPT", "LOAD", script.body) for script in _known.values()])


@pytest.fixture
def world(databases: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Databases and Redis, empty; whatever the test leaves is deleted after it."""
    from tests.world import clean  # noqa: PLC0415 - models exist once Django is set up
    from timelines.increments.questions import forget_increments  # noqa: PLC0415
    from timelines.promotions.blend import forget_promotions  # noqa: PLC0415
    from timelines.stores.chosen import timeline_store  # noqa: PLC0415

    with django_db_blocker.unblock():
        clean()
        timeline_store()  # its first call in a process asks the default database
        yield
        forget_increments()  # its thread would ask Redis while other tests count
        forget_promotions()  # and this one's the default database
        clean()


@pytest.fixture
def drain(world: None) -> Callable[[], int]:
    """Call it to deliver every pending change; returns how many were."""
    from tests.world import drain_all  # noqa: PLC0415

    return drain_all
