"""Two threads begin to read a log at the same time, and the reply of the first is applied last."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connections
from django.test import Client

from infra import read_window
from infra.caching import viewer_log
from infra.caching.client import redis
from infra.caching.invalidation_log import LOG
from infra.caching.viewer_validators import VIEWER_LOG
from tests.api_process import WINDOW_MS
from tests.integration.own_writes.acting import (
    ACCOUNTS,
    STATUSES,
    Person,
    RemoteCaller,
    make_pair,
    publish,
)
from tests.world import make_account


@pytest.fixture(params=["no messages", "messages"])
def window(request, monkeypatch):
    if request.param == "no messages":
        monkeypatch.setattr("infra.caching.listener.receive_invalidation", lambda message: None)
    monkeypatch.setattr(read_window, "WINDOW_S", WINDOW_MS / 1000)


@contextmanager
def delayed(monkeypatch, log, read):
    """`read` runs in a thread that is paused when it has the reply that starts the log."""
    exchange, has_reply, may_go_on = redis()._exchange_now, threading.Event(), threading.Event()

    def pause(commands):
        replies = exchange(commands)
        starts = any(command[:2] == ("XADD", log.key) for command in commands)
        if starts and threading.current_thread() is thread:
            has_reply.set()
            may_go_on.wait(10)
        return replies

    def run():
        read()
        connections.close_all()

    thread = threading.Thread(target=run)
    monkeypatch.setattr(redis(), "_exchange_now", pause)
    thread.start()
    assert has_reply.wait(5)
    yield
    may_go_on.set()
    thread.join()


def test_a_deleted_post_is_gone(world, window, waiting_web, monkeypatch):
    actor, other = make_pair()
    remote = RemoteCaller.acting_for(actor, waiting_web)
    post, another = publish(actor), publish(other)
    path, guest = f"{STATUSES}/{post}", Client()
    assert guest.get(path).status_code == 200
    LOG.forget_all()
    with delayed(monkeypatch, LOG, lambda: Client().get(path)):
        remote.act(path, method="DELETE")
        guest.get(f"{STATUSES}/{another}")
    assert guest.get(path).status_code == 404


def test_a_blocked_account_sees_no_post(world, window, waiting_web, monkeypatch):
    actor, other = make_pair()
    third = Person(make_account())
    remote = RemoteCaller.acting_for(actor, waiting_web)
    path = f"{STATUSES}/{publish(actor)}"
    for _ in range(3):
        assert other.get(path).status_code == 200
        third.get(path)
    monkeypatch.setattr(viewer_log, "BUSY_S", 5.0)
    VIEWER_LOG.forget_all()
    with delayed(monkeypatch, VIEWER_LOG, lambda: other.get(path)):
        remote.act(f"{ACCOUNTS}/{other.id}/block")
        third.get(path)
    assert other.get(path).status_code == 404
