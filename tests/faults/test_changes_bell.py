"""The bell over a broker that dies, hangs or is restarted between two rings."""

import time

import pytest
from celery import Celery
from redis import Redis

from infra.changes import bell
from tests.waiting import until

QUEUE = "celery:celery"


@pytest.fixture
def broker(server, client, monkeypatch, settings):
    """The bell's flag and its messages on a server of their own."""
    settings.REDIS_TIMEOUT_MS = 250
    client.call("FLUSHALL")
    app = Celery("other", set_as_current=False)
    app.config_from_object("django.conf:settings", namespace="CELERY")
    app.conf.broker_url = f"redis+socket://{server.url[7:].replace('?db=', '?virtual_host=')}"
    monkeypatch.setattr(bell, "redis", lambda: client)
    monkeypatch.setattr(bell, "current_app", app)
    bell._broker.cache_clear()
    yield client
    bell._broker.cache_clear()


def ring_timed(lane=0):
    began = time.monotonic()
    bell.ring("shard0", lane)
    return time.monotonic() - began


def test_dead_redis(server, broker):
    ring_timed()
    server.kill()
    assert ring_timed(1) < 0.5
    assert ring_timed(2) < 0.1


def test_hung_redis(server, broker):
    ring_timed()
    server.pause()
    assert ring_timed(1) < 0.9
    assert ring_timed(2) < 0.1


def test_broker_that_dies_after_the_flag_was_set(server, broker, monkeypatch):
    """As when it goes between the two: the flag is up and the message cannot be sent."""
    ring_timed()
    monkeypatch.setattr(broker, "call", lambda *_: True)
    server.kill()
    assert ring_timed() < 1


def test_broker_that_hangs_after_the_flag_was_set(server, broker, monkeypatch):
    ring_timed()
    monkeypatch.setattr(broker, "call", lambda *_: True)
    server.pause()
    assert ring_timed() < 1


def test_message_that_could_not_be_sent_leaves_no_flag(broker, monkeypatch):
    """It would keep the bell silent for the changes that come when the broker is back."""
    app = Celery("nowhere", broker="redis+socket:///nowhere/redis.sock", set_as_current=False)
    monkeypatch.setattr(bell, "current_app", app)
    assert ring_timed() < 1
    assert broker.call("EXISTS", bell.flag_key("shard0", 0)) == 0


def test_restarted_broker_is_rung(server, broker):
    ring_timed()
    server.stop()
    server.start()

    def is_rung():
        assert ring_timed() < 1
        return queue_length(server)

    until(is_rung, within_s=5)
    assert queue_length(server) == 1


def queue_length(server):
    with Redis.from_url(server.url) as client:
        return client.llen(QUEUE)
