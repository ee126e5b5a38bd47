"""A Redis of its own, alone, which a test may kill, hang and bring back."""

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from infra.caching.client import FeedRedis
from infra.caching.connection import PipelinedConnection
from infra.caching.single import SingleClient
from lab.services import running_services
from lab.services.delete_data import delete_data
from lab.services.redis import RedisServer
from tests.server_faults import resume

# Long for a crowded machine, which is not a hung one; what hangs is waited for once or twice.
TIMEOUT_S = 1.0
# Only Redis is started: somebody else has the databases.
NO_POSTGRES = {"DATABASE_URL": "-", "SHARD_DATABASE_URLS": "-"}


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    data = Path(tempfile.mkdtemp(prefix="tideline-test-"))
    try:
        with running_services(data, environ=NO_POSTGRES) as services:
            assert services.redis
            yield services.redis
    finally:
        delete_data(data)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[PipelinedConnection]:
    """Each time that a caller asked a server, or would have had it been there."""
    asked, exchange = list[PipelinedConnection](), PipelinedConnection.exchange

    def exchange_aloud(connection: PipelinedConnection, *arguments: Any) -> list[Any]:
        # Not the threads of the process that ask by themselves.
        if not threading.current_thread().daemon:
            asked.append(connection)
        return exchange(connection, *arguments)

    monkeypatch.setattr(PipelinedConnection, "exchange", exchange_aloud)
    return asked


@pytest.fixture
def client(server: RedisServer) -> Iterator[FeedRedis]:
    """A process's client, as `redis()` makes it, and the server running when the test ends."""
    if not server.is_running:
        server.start()
    options = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S}
    connections = Redis.from_url(server.url, protocol=2, retry=Retry(NoBackoff(), 0), **options)
    yield FeedRedis(SingleClient(connections))
    resume(server)
