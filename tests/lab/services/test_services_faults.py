"""Servers that are killed, hung and brought back, one at a time, while others go on."""

import os
import select

import psycopg
import pytest
import redis
from psycopg.pq import PGconn

from lab.services import Search
from lab.services.errors import DataInUse
from lab.services.locks import locked
from tests.server_faults import kill, pause, resume
from tests.services import are_gone, private_services
from tests.waiting import PATIENCE_S, until


@pytest.fixture(scope="module")
def services():
    with private_services(shard_count=1) as running:
        yield running


@pytest.fixture
def shard(services):
    server = services.postgres["shard0"]
    if not server.is_running:
        server.start()
    return server


@pytest.fixture
def cache(services):
    if not services.redis.is_running:
        services.redis.start()
    with redis.Redis.from_url(services.redis.url, socket_timeout=0.2) as client:
        yield client


def write(server, value: int) -> None:
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (value int)")
        connection.execute("INSERT INTO kept VALUES (%s)", [value])


def written(server) -> set[int]:
    with psycopg.connect(server.url) as connection:
        return {value for (value,) in connection.execute("SELECT value FROM kept")}


def test_killed_shard_cuts_connections_and_comes_back_with_what_was_committed(services, shard):
    write(shard, 1)
    with psycopg.connect(shard.url) as open_before:
        kill(shard)
        with pytest.raises(psycopg.OperationalError):
            open_before.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(shard.url)
    assert psycopg.connect(services.postgres["default"].url).close() is None
    shard.start()
    assert 1 in written(shard)


def test_all_processes_of_a_killed_shard_are_gone(shard):
    with psycopg.connect(shard.url) as connection:
        backend = connection.info.backend_pid
        kill(shard)
        until(lambda: are_gone([backend]))


def test_stopped_shard_starts_again(shard):
    write(shard, 2)
    shard.stop()
    assert not shard.is_running
    shard.start()
    assert 2 in written(shard)


def test_lock_file_that_names_a_living_process_does_not_prevent_the_start(shard):
    """After a crash the process id of the old server may belong to somebody else."""
    write(shard, 3)
    status = shard.data / "postmaster.pid"
    left = status.read_text()
    kill(shard)
    status.write_text("\n".join([str(os.getppid()), *left.splitlines()[1:]]) + "\n")
    shard.start()
    assert 3 in written(shard)


def test_paused_shard_keeps_connections_and_answers_nothing(shard):
    connection = PGconn.connect(shard.url.encode())
    pause(shard)
    connection.send_query(b"SELECT 1")
    assert not has_answer_within(connection, 0.3)
    with pytest.raises(psycopg.errors.ConnectionTimeout):
        psycopg.connect(shard.url, connect_timeout=2)
    resume(shard)
    assert has_answer_within(connection, PATIENCE_S)
    connection.finish()


def has_answer_within(connection: PGconn, seconds: float) -> bool:
    readable, _, _ = select.select([connection.socket], [], [], seconds)
    return bool(readable)


def test_paused_redis_hangs_and_goes_on(services, cache):
    cache.set("kept", 1)
    pause(services.redis)
    with pytest.raises(redis.TimeoutError):
        cache.get("kept")
    resume(services.redis)
    assert cache.get("kept") == b"1"


def test_server_that_does_not_stop_is_killed(services, cache, monkeypatch):
    monkeypatch.setattr("lab.services.server._STOP_S", 0.1)
    pause(services.redis)
    services.redis.stop()
    assert not services.redis.is_running


def test_killed_redis_comes_back_empty(services, cache):
    cache.set("forgotten", 1)
    kill(services.redis)
    with pytest.raises(redis.ConnectionError):
        cache.get("forgotten")
    services.redis.start()
    assert cache.get("forgotten") is None


def test_servers_of_the_wheels_serve():
    with private_services(shard_count=1, search=Search("", ())) as services:
        write(services.postgres["shard0"], 1)
        assert redis.Redis.from_url(services.redis.url).ping()


def test_data_stays_locked_as_long_as_its_server_runs(shard):
    """Who held the services may be gone; what counts is who still writes."""
    lock = shard.data.with_suffix(".lock")
    with pytest.raises(DataInUse), locked(lock):
        pass
    shard.stop()
    with locked(lock):
        pass
