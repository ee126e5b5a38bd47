"""A world with an empty journal, and wake-ups without Redis."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.db import close_old_connections
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from tests.integration.changes.kinds import Journal


@pytest.fixture
def journal(world: None) -> Iterator["Journal"]:
    # When pytest is called for this folder alone, the settings are not ready at the top.
    from tests.integration.changes.kinds import journal as the_journal  # noqa: PLC0415

    the_journal.clear()
    yield the_journal
    the_journal.clear()
    close_old_connections()  # of those a test broke, for the next one's sake


@pytest.fixture
def no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    from infra.caching.client import FeedRedis  # noqa: PLC0415
    from infra.caching.single import SingleClient  # noqa: PLC0415
    from infra.changes import wake_up  # noqa: PLC0415

    away = Redis(unix_socket_path="/nowhere/redis.sock", retry=Retry(NoBackoff(), 0))
    client = FeedRedis(SingleClient(away))
    monkeypatch.setattr(wake_up, "redis", lambda: client)
