"""Each state in which a store can be has one name: in health, status, metrics and the log.

The disk of a real server of PostgreSQL is full. The disk is memory, so it needs root.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.store_states import StoreState
from lab.faults.cluster.redis_refusals import refusing_writes
from lab.services.postgres import PostgresServer
from tests.callers import token_of
from tests.faults.hung_world import environment_of, serving
from tests.faults.test_operators_hung import Browser
from tests.installed import IS_ROOT
from tests.paced_requests import Ask, Clients
from tests.server_faults import hanging, kill
from tests.waiting import until
from tests.world import drain_all, make_accounts, publish

# A smaller disk would have no room for the log that a start writes.
SPARE_BYTES = 48 << 20
_CHUNK = bytes(1 << 16)


@contextmanager
def small_disk(server: PostgresServer) -> Iterator[Path]:
    """The server has a disk of its own during the block. Gives a file that may fill it."""
    data, aside = server.data, server.data.with_name(f"{server.data.name}.aside")
    server.stop()
    data.rename(aside)
    shutil.copystat(aside, _made(data))
    size = sum(file.stat().st_size for file in aside.rglob("*") if file.is_file()) + SPARE_BYTES
    owner = aside.stat()
    options = f"size={size},mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", data], check=True)
    try:
        subprocess.run(["cp", "-a", f"{aside}/.", data], check=True)
        server.start()
        yield data / "filler"
    finally:
        server.stop()
        subprocess.run(["umount", "--lazy", data], check=True)
        data.rmdir()
        aside.rename(data)
        server.start()


def fill(filler: Path) -> None:
    """Writes until the disk is full."""
    with filler.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(_CHUNK)
        except OSError:
            return


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


pytestmark = pytest.mark.core

SHARD = "shard1"
# What a Redis answers a write with, and what that is called. A pause answers nothing.
REFUSALS = {
    "OOM": StoreState.MEMORY_FULL,
    "READONLY": StoreState.READ_ONLY,
    "MISCONF": StoreState.CANNOT_SAVE,
    "NOREPLICAS": StoreState.LACKS_REPLICAS,
    "PAUSE": StoreState.HANGS,
}


@contextmanager
def read_only(server):
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("SET default_transaction_read_only = off")
            admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
            admin.execute("SELECT pg_reload_conf()")


@contextmanager
def dead(server):
    kill(server)
    try:
        yield
    finally:
        server.start()


@contextmanager
def full_disk(filler):
    fill(filler)
    try:
        yield
    finally:
        filler.unlink()


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("web") / "web.log"


@pytest.fixture(scope="module")
def port(private, log):
    """Of a web server."""
    environment = environment_of(private.environment() | {"REDIS_TIMEOUT_MS": "250"})
    with serving(environment, log) as port:
        yield port


@pytest.fixture
def browser(services, port):
    """The web server has found that all stores answer."""
    browser = Browser(port, "")
    until(lambda: set(stores_of(browser).values()) == {"ok"}, said=lambda: stores_of(browser))
    return browser


def stores_of(browser):
    return json.loads(browser.get("/health/ready").content)["stores"]


def metric_of(browser, store):
    pattern = rf'tideline_store_state{{state="(\w+)",store="{store}"}} 1\.0'
    return re.findall(pattern, browser.get("/metrics").content)


def status_line(services, store):
    ended = subprocess.run(
        [sys.executable, "manage.py", "show_status"],
        env=environment_of(services.environment() | {"REDIS_TIMEOUT_MS": "250"}),
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1, ended.stdout
    return next(line for line in ended.stdout.splitlines() if line.split()[:1] == [store])


def expect(services, browser, store, state):
    """Health, metric and screen name this state of the store, and of no other store."""
    until(lambda: stores_of(browser)[store] == state.value, said=lambda: stores_of(browser))
    assert {name for name, text in stores_of(browser).items() if text != "ok"} == {store}
    until(
        lambda: metric_of(browser, store) == [state.label], said=lambda: metric_of(browser, store)
    )
    line = status_line(services, store)
    if state.refuses_writes:
        assert state.value.replace("refuses writes", "REFUSES WRITES") in line
    else:
        assert "DOWN: " in line


def recovers(browser, store):
    until(lambda: stores_of(browser)[store] == "ok", said=lambda: stores_of(browser))
    until(lambda: metric_of(browser, store) == ["ok"])


@pytest.mark.parametrize("way", REFUSALS)
def test_a_redis_that_takes_no_writes(services, browser, way):
    with refusing_writes(Path(urlsplit(services.redis.url).path), way):
        until(lambda: stores_of(browser)["redis"] == REFUSALS[way].value)
        until(lambda: metric_of(browser, "redis") == [REFUSALS[way].label])
        if REFUSALS[way].refuses_writes:
            expect(services, browser, "redis", REFUSALS[way])
    recovers(browser, "redis")


WAYS = {StoreState.READ_ONLY: read_only, StoreState.HANGS: hanging, StoreState.UNREACHABLE: dead}


@pytest.mark.parametrize("state", WAYS)
def test_a_shard(services, browser, state):
    with WAYS[state](services.postgres[SHARD]):
        expect(services, browser, SHARD, state)
        assert browser.get("/health/ready").status == 200
    recovers(browser, SHARD)


@pytest.mark.skipif(not IS_ROOT, reason="a small disk needs root")
def test_a_shard_whose_disk_is_full(services, browser, port, log):
    """Reads go on, writes are refused for now, and both the log and the metrics say why."""
    me = next(account for account in make_accounts(16) if shard_of(account) == SHARD)
    token = token_of(me)
    with ExitStack() as stack:
        filler = stack.enter_context(small_disk(services.postgres[SHARD]))
        post = publish(me)
        drain_all()
        until(lambda: stores_of(browser)[SHARD] == "ok")
        clients = stack.enter_context(Clients(port))
        read = partial(clients.send, Ask("read", token, f"/api/v1/statuses/{post.public}"))
        until(lambda: read().status == 200)
        with full_disk(filler):
            expect(services, browser, SHARD, StoreState.DISK_FULL)
            until(lambda: write_until_refused(clients, token), said=log.read_text)
            assert read().status == 200
            assert "disk_full" in log.read_text()
            failures = f'tideline_database_failures_total{{shard="{SHARD}",state="disk_full"}}'
            until(lambda: failures in browser.get("/metrics").content)
        recovers(browser, SHARD)


def write_until_refused(clients, token):
    """Pages that were there before may take some more rows."""
    body = {"status": "x" * 400}
    answers = [
        clients.send(Ask("write", token, "/api/v1/statuses", "POST", body)) for _ in range(30)
    ]
    assert {answer.status for answer in answers} <= {200, 503}
    return answers[-1].status == 503
