"""The process that holds the services is killed with -9, or is not alone."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import redis

from lab.services import running_services
from lab.services.delete_data import delete_data
from lab.services.errors import DataInUse
from lab.services.process_tree import process_tree
from tests.services import are_gone
from tests.waiting import until

CHECKOUT = Path(__file__).parents[3]
HOLDER = """
import json, pathlib, sys, time
from lab.services import running_services
with running_services(pathlib.Path(sys.argv[1]), environ={}, shard_count=1) as services:
    print(json.dumps(services.environment()), flush=True)
    time.sleep(3600)  # it is killed before that
"""


@pytest.fixture
def data(tmp_path):
    yield tmp_path / "data"
    delete_data(tmp_path / "data")


@contextmanager
def holder(data: Path):
    """A process that holds the services, and the URLs it said they have."""
    command = [sys.executable, "-c", HOLDER, str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as process:
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def test_no_server_outlives_its_holder_and_committed_data_does(data):
    with holder(data) as (process, urls):
        with psycopg.connect(urls["DATABASE_URL"]) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
        servers = process_tree(process.pid)[1:]
        assert len(servers) >= 3
        process.kill()
        process.wait()
        until(lambda: are_gone(servers))
    with (
        running_services(data, environ={}, shard_count=1) as services,
        psycopg.connect(services.postgres["default"].url) as connection,
    ):
        assert connection.execute("SELECT value FROM kept").fetchone() == (7,)


def test_next_start_need_not_wait_for_the_killed_one(data):
    with holder(data) as (process, _):
        process.kill()
        process.wait()
        with running_services(data, environ={}, shard_count=1) as services:
            assert redis.Redis.from_url(services.redis.url).ping()


def test_second_holder_is_refused_and_the_first_goes_on(data):
    with holder(data) as (process, urls):
        with (
            pytest.raises(DataInUse, match=f"process {process.pid}"),
            running_services(data, environ={}, shard_count=1),
        ):
            pass
        assert psycopg.connect(urls["DATABASE_URL"]).close() is None
        assert redis.Redis.from_url(urls["REDIS_URL"]).ping()


def test_data_in_use_is_not_deleted(data):
    with holder(data) as (_, urls):
        with pytest.raises(DataInUse):
            delete_data(data)
        assert psycopg.connect(urls["DATABASE_URL"]).close() is None


def test_start_that_was_killed_half_way_is_done_again(data):
    command = [sys.executable, "-c", HOLDER, str(data)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=CHECKOUT) as process:
        until(lambda: list(data.glob("services/template/base")))
        # What is left of it may go on writing for a moment: the lock makes the next start wait.
        assert "template.lock" in open_files(process_tree(process.pid)[1])
        process.kill()
    with running_services(data, environ={}, shard_count=1) as services:
        assert psycopg.connect(services.postgres["shard0"].url).close() is None


def open_files(pid: int) -> set[str]:
    return {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir()}
