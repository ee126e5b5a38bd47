"""Wake-ups over a broker that dies, hangs or is restarted between two of them."""

import time

import pytest
from celery import Celery
from redis import Redis
from redis.connection import UnixDomainSocketConnection

from infra.changes import wake_up
from tests.server_faults import kill, pause
from tests.waiting import PATIENCE_S, until

QUEUE = "celery:celery"
# Without its own timeout a wake-up would wait as long for a broker that hangs.
CELERYS_OWN = {
    "socket_timeout": PATIENCE_S,
    "socket_connect_timeout": PATIENCE_S,
    "global_keyprefix": "celery:",
}


@pytest.fixture
def broker(server, client, monkeypatch, settings):
    """The flag and the messages of wake-ups on their own server."""
    settings.REDIS_TIMEOUT_MS = 250
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = CELERYS_OWN
    client.call("FLUSHALL")
    app = Celery("other", set_as_current=False)
    app.config_from_object("django.conf:settings", namespace="CELERY")
    app.conf.broker_url = f"redis+socket://{server.url[7:].replace('?db=', '?virtual_host=')}"
    monkeypatch.setattr(wake_up, "redis", lambda: client)
    monkeypatch.setattr(wake_up, "current_app", app)
    wake_up._broker.cache_clear()
    yield client
    wake_up._broker.cache_clear()


@pytest.fixture
def connects(monkeypatch):
    """Each attempt to reach a server, by wake-ups and by the broker."""
    connects, connect = [], UnixDomainSocketConnection._connect

    def connect_aloud(connection):
        connects.append(connection)
        return connect(connection)

    monkeypatch.setattr(UnixDomainSocketConnection, "_connect", connect_aloud)
    return connects


def ring(lane=0):
    wake_up.wake("shard0", lane)


@pytest.mark.parametrize("fail", [kill, pause])
def test_redis_that_is_away_is_asked_once_by_all_lanes(server, broker, breaker_clock, asked, fail):
    ring()
    fail(server)
    asked.clear()
    for lane in range(1, 4):
        ring(lane)
    assert len(asked) == 1


def test_broker_that_dies_after_the_flag_was_set(server, broker, monkeypatch, connects):
    """As when it goes between the two: the flag is up and the message cannot be sent."""
    ring()
    monkeypatch.setattr(broker, "call", lambda *_: True)
    kill(server)
    connects.clear()
    ring()
    assert len(connects) == 1, "it tried again: a request is waiting"


def test_broker_that_hangs_after_the_flag_was_set(server, broker, monkeypatch, connects):
    ring()
    monkeypatch.setattr(broker, "call", lambda *_: True)
    pause(server)
    connects.clear()
    began = time.monotonic()
    ring()
    # Its own patience, on however slow a machine; Celery's is five times this.
    assert time.monotonic() - began < PATIENCE_S / 5
    assert connects == [], "it tried again"


def test_message_that_could_not_be_sent_leaves_no_flag(broker, monkeypatch):
    """It would suppress wake-ups for the changes that come when the broker is back."""
    app = Celery("nowhere", broker="redis+socket:///nowhere/redis.sock", set_as_current=False)
    monkeypatch.setattr(wake_up, "current_app", app)
    ring()
    assert broker.call("EXISTS", wake_up.flag_key("shard0", 0)) == 0


def test_restarted_broker_is_rung(server, broker):
    ring()
    server.stop()
    server.start()

    def is_rung():
        ring()
        return queue_length(server)

    until(is_rung)
    assert queue_length(server) == 1


def queue_length(server):
    with Redis.from_url(server.url) as client:
        return client.llen(QUEUE)
