"""Reads in the read window: never without a write that another process has answered."""

import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.db import connections

from infra import read_window
from infra.caching.client import redis
from infra.caching.invalidation_log import LOG
from infra.caching.viewer_validators import VIEWER_LOG
from tests.api_process import WINDOW_MS, ApiProcess
from tests.integration.own_writes.acting import (
    ACCOUNTS,
    STATUSES,
    Person,
    RemoteCaller,
    make_pair,
    publish,
)
from tests.other_process import environment_of_this_test
from tests.world import make_account

ROUNDS = 6
LOGS = {LOG.key, VIEWER_LOG.key}


@pytest.fixture(scope="module")
def hasty_web(databases):
    """Its answers do not wait."""
    with ApiProcess(READ_WINDOW_MS="0") as process:
        yield process


@pytest.fixture
def window(monkeypatch):
    """Reads of this process use the window, and no message of pub/sub helps them."""
    monkeypatch.setattr("infra.caching.listener.receive_invalidation", lambda message: None)
    monkeypatch.setattr(read_window, "WINDOW_S", WINDOW_MS / 1000)


@contextmanager
def busy(path):
    """Somebody else reads all the time, so the window is always open."""
    somebody, has_ended = Person(make_account()), threading.Event()

    def read():
        while not has_ended.wait(0.01):
            somebody.see(path)
        connections.close_all()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def favourite(actor, other):
    post = publish(other)
    path = f"{STATUSES}/{post}"
    for n in range(ROUNDS):
        actor.act(f"{path}/{'unfavourite' if n % 2 else 'favourite'}")
        yield actor.see(path)["favourited"], n % 2 == 0


def follow(actor, other):
    path = f"{ACCOUNTS}/relationships?id[]={other.id}"
    for n in range(ROUNDS):
        actor.act(f"{ACCOUNTS}/{other.id}/{'unfollow' if n % 2 else 'follow'}")
        yield actor.see(path)[0]["following"], n % 2 == 0


def be_blocked(actor, other):
    post = publish(actor)
    other.get(f"{STATUSES}/{post}")
    for n in range(ROUNDS):
        actor.act(f"{ACCOUNTS}/{other.id}/{'unblock' if n % 2 else 'block'}")
        seen = other.get(f"{STATUSES}/{post}").status_code
        yield seen, 200 if n % 2 else 404


def delete(actor, other):
    for _ in range(ROUNDS):
        path = f"{STATUSES}/{publish(actor)}"
        other.see(path)
        actor.act(path, method="DELETE")
        yield other.get(path).status_code, 404


def write(actor, other):
    path = f"{ACCOUNTS}/{actor.id}/statuses"
    for _ in range(ROUNDS):
        post = publish(actor)
        yield other.see_ids(path)[:1], [post]


@pytest.mark.parametrize("acts", [favourite, follow, be_blocked, delete, write])
def test_a_read_after_an_answer_has_the_write(world, window, waiting_web, acts):
    actor, other = make_pair()
    remote = RemoteCaller.acting_for(actor, waiting_web)
    with busy(f"{ACCOUNTS}/{other.id}"):
        seen = list(acts(remote, other))
    assert [found for found, _ in seen] == [expected for _, expected in seen]


@pytest.mark.parametrize("acts", [be_blocked, delete])
def test_without_the_wait_a_read_can_miss_the_write(world, window, hasty_web, acts):
    actor, other = make_pair()
    remote = RemoteCaller.acting_for(actor, hasty_web)
    with busy(f"{ACCOUNTS}/{other.id}"):
        seen = [pair for _ in range(5) for pair in acts(remote, other)]
    assert any(found != expected for found, expected in seen)


def count_asked(monkeypatch):
    """The keys of the logs and of validators that this process asks Redis for."""
    asked, exchange = [], redis()._exchange_now

    def counted(commands):
        asked.extend(command[1] for command in commands if len(command) > 1)
        return exchange(commands)

    monkeypatch.setattr(redis(), "_exchange_now", counted)
    return asked


def test_in_the_window_a_read_asks_redis_nothing(world, window, monkeypatch):
    viewer, author = make_pair()
    path = f"{STATUSES}/{publish(author)}"
    for _ in range(3):
        viewer.see(path)
    asked = count_asked(monkeypatch)
    monkeypatch.setattr(read_window, "WINDOW_S", 60.0)
    viewer.see(path)
    assert asked == []
    monkeypatch.setattr(read_window, "WINDOW_S", 1e-9)
    viewer.see(path)
    assert set(asked) == LOGS


def test_a_process_that_writes_closes_its_own_window(world, window, monkeypatch):
    monkeypatch.setattr(read_window, "WINDOW_S", 60.0)
    viewer, author = make_pair()
    path = f"{STATUSES}/{publish(author)}"
    for n in range(4):
        for _ in range(3):
            viewer.see(path)
        viewer.act(f"{path}/{'unfavourite' if n % 2 else 'favourite'}")
        assert viewer.see(path)["favourited"] is (n % 2 == 0)


def test_an_answer_to_a_write_waits_and_one_without_a_change_does_not(world, monkeypatch):
    waited = []
    monkeypatch.setattr(read_window.time, "sleep", waited.append)
    actor, other = make_pair()
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    assert waited == [read_window._WAIT_S]
    actor.client.post(f"{ACCOUNTS}/{other.id}/unknown")
    actor.see(f"{ACCOUNTS}/{other.id}")
    assert len(waited) == 1


@pytest.mark.parametrize(("window_ms", "code"), [("20", 1), ("0", 0)])
def test_a_cluster_has_no_window(window_ms, code):
    own = {"REDIS_CLUSTER": "1", "READ_WINDOW_MS": window_ms}
    command = [sys.executable, "-c", "import config.settings"]
    environment = environment_of_this_test() | own
    done = subprocess.run(command, env=environment, cwd=settings.BASE_DIR, capture_output=True)
    assert done.returncode == code, done.stderr
    assert (b"READ_WINDOW_MS: needs one Redis server" in done.stderr) is bool(code)
