"""Each connection makes sure that Redis has data of the server run that it is connected to.

A Redis that comes back with data from before.
"""

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from infra.caching import server_identity
from infra.caching.client import FeedRedis
from infra.caching.connection import TRUSTED_S
from infra.caching.single import SingleClient
from infra.read_limits import UNREAD_AFTER_S
from lab.services import running_services
from lab.services.delete_data import delete_data
from lab.services.redis import RedisServer
from tests.faults.redis_alone import NO_POSTGRES, TIMEOUT_S
from tests.server_faults import kill
from tests.waiting import PATIENCE_S, until


def save_dump(server: RedisServer) -> bytes:
    """The data of this moment."""
    with Redis.from_url(server.url) as admin:
        admin.save()
    path = _path(server)
    try:
        return path.read_bytes()
    finally:
        path.unlink()


def restart_with(server: RedisServer, dump: bytes) -> None:
    """Kills the server and starts it with these data."""
    kill(server)
    path = _path(server)
    path.write_bytes(dump)
    try:
        server.start()
    finally:
        path.unlink()
    time.sleep(TRUSTED_S)  # clients trust a connection that they used a moment ago


def _path(server: RedisServer) -> Path:
    return server._sockets / "dump.rdb"


@pytest.fixture
def others(server):
    """Makes the clients of other processes."""
    made = []

    def make():
        connections = Redis.from_url(server.url, protocol=2, socket_timeout=TIMEOUT_S)
        made.append(FeedRedis(SingleClient(connections)))
        return made[-1]

    return make


@pytest.fixture
def forgotten(monkeypatch):
    calls = []
    monkeypatch.setattr(server_identity, "_forgetting", [lambda: calls.append(1)])
    return calls


def raw(server):
    return Redis.from_url(server.url)


def test_data_stay_for_other_processes(client, others, forgotten):
    client.call("SET", "a", 1)
    assert others().call("GET", "a") == b"1"
    assert forgotten == []


def test_flush_does_not_make_the_next_process_empty_redis_again(client, others):
    client.call("FLUSHALL")
    client.call("SET", "a", 1)
    assert others().call("GET", "a") == b"1"


def test_data_of_an_unknown_origin_are_deleted(server, client, others):
    client.call("SET", "a", 1)
    with raw(server) as admin:
        admin.function_flush()
    assert others().call("GET", "a") is None


def test_old_dump_is_never_read(server, client, others, forgotten):
    client.call("SET", "a", "old")
    dump = save_dump(server)
    client.call("SET", "a", "new")
    restart_with(server, dump)
    assert client.call("GET", "a") is None
    assert forgotten == [1]
    client.call("SET", "a", "newer")
    assert others().call("GET", "a") == b"newer"
    assert forgotten == [1]


def test_dump_is_really_loaded(server, client):
    """Otherwise the test above proves nothing. A client of an earlier test may have emptied it."""
    client.call("SET", "a", "old")
    restart_with(server, save_dump(server))
    with raw(server) as admin:
        assert admin.info("persistence")["rdb_last_load_keys_loaded"] >= 1


def test_promoted_replica_is_emptied_and_a_replica_is_not_used(server, client, others, forgotten):
    client.call("SET", "a", "perhaps old")
    with raw(server) as admin:
        admin.execute_command("REPLICAOF", "127.0.0.1", "1")
        try:
            with pytest.raises(RedisConnectionError, match="replica"):
                others().call("GET", "a")
            # A connection from before is closed by the first write that is refused. If the server
            # has closed it already, the breaker is open then.
            with pytest.raises(RedisError, match="read only"):
                client.call("SET", "a", "refused")
            with pytest.raises(RedisConnectionError, match=r"replica|a moment ago"):
                client.call("GET", "a")
        finally:
            admin.execute_command("REPLICAOF", "NO", "ONE")
    until(lambda: not client._breaker._recovering, PATIENCE_S)
    assert client.call("GET", "a") is None
    assert forgotten == [1]


@pytest.fixture
def fail_over(server):
    """The address leads to another server. The one before still answers on its connections."""
    path, aside = _socket_of(server), _socket_of(server).with_name("aside.sock")
    data = Path(tempfile.mkdtemp(prefix="tideline-test-"))
    try:
        with running_services(data, environ=NO_POSTGRES) as services:

            def begin():
                path.rename(aside)
                _socket_of(services.redis).rename(path)

            yield begin
            if aside.exists():
                aside.replace(path)
    finally:
        delete_data(data)


def _socket_of(server):
    return Path(urlsplit(server.url).path)


def test_no_thread_reads_from_a_server_that_was_replaced(server, client, fail_over):
    client.call("SET", "a", "of the first")
    with ThreadPoolExecutor(1) as other_thread:
        assert other_thread.submit(client.call, "GET", "a").result() == b"of the first"
        fail_over()
        client._client._server._connection().close()  # as when the network was cut for a moment
        assert client.call("GET", "a") is None
        assert other_thread.submit(client.call, "GET", "a").result() is None


def test_another_run_is_used_when_no_process_reads_the_one_before(client, fail_over, others):
    client.call("PING")
    fail_over()
    began_at = time.monotonic()
    others().call("SET", "a", 1)
    assert time.monotonic() - began_at >= UNREAD_AFTER_S
    began_at = time.monotonic()
    others().call("SET", "a", 1)
    assert time.monotonic() - began_at < UNREAD_AFTER_S, "only once"


def test_process_does_not_empty_what_another_has_emptied_meanwhile(
    server, client, others, monkeypatch
):
    with raw(server) as admin:
        admin.function_flush()
    slower, pauses = others(), [lambda _: client.call("SET", "a", 1), time.sleep]
    monkeypatch.setattr(server_identity, "time", SimpleNamespace(sleep=lambda s: pauses.pop(0)(s)))
    assert slower.call("GET", "a") == b"1"


def test_numbered_databases_are_independent(server, client):
    client.call("SET", "a", 1)
    other = FeedRedis(SingleClient(Redis.from_url(server.url.replace("db=0", "db=1"))))
    other.call("SET", "a", 2)
    assert client.call("GET", "a") == b"1"
