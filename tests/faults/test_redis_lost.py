"""Redis is killed, or hangs, while a key is hot: nothing stays hot, and answers are right.

Django's cache when Redis is away or hangs: pages are built each time, without a long wait.
"""

import socket
import time

import pytest
from django.core.cache import cache
from django.test import Client

from accounts.queries import site_counts
from infra.caching import (
    fleet_reads,
    hot_keys,
    load_tokens,
    loading,
    questions,
    round_trips,
)
from infra.caching.hot_keys import REPORT_S, HotKeyLimits, HotKeys
from infra.caching.hot_values import HotValues
from infra.caching.values import ValueCache, Versioned
from lab.runner.port import free_port
from tests.clocks import Clock
from tests.faults.hung_world import HungWorld, environment_of, running_web
from tests.paced_requests import Ask
from tests.server_faults import hanging, kill, pause
from tests.waiting import until

LIMITS = HotKeyLimits(reads_s=100, copy_s=1.0)


@pytest.fixture
def redis_of_its_own(client, monkeypatch):
    for module in (fleet_reads, load_tokens, loading, questions, round_trips):
        monkeypatch.setattr(module, "redis", lambda: client)
    client.call("FLUSHDB")  # what a hung server was sent it did when it woke


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def rows():
    return {1: Versioned(1, b"old")}


@pytest.fixture
def spec(redis_of_its_own, clock, rows):
    spec = ValueCache("tests.hot_fault:v1", 60, lambda owners: {o: rows[o] for o in owners})
    spec.hot = HotValues(spec.family, spec.key, HotKeys(LIMITS, clock, clock))
    return spec


@pytest.fixture
def reports(monkeypatch):
    """What Redis was told, or would have been."""
    reports, add_reads = [], hot_keys.add_reads

    def add_aloud(reads, wall_s):
        reports.append(reads)
        return add_reads(reads, wall_s)

    monkeypatch.setattr(hot_keys, "add_reads", add_aloud)
    return reports


def make_hot(spec, clock):
    for _ in range(600):
        spec.load_many([1])
    clock.now += REPORT_S
    spec.load_many([1])


def is_hot(spec):
    return bool(spec.hot.hot_names())


@pytest.mark.parametrize("fail", [kill, pause])
def test_nothing_is_hot_and_answers_come_from_the_source(server, spec, clock, rows, reports, fail):
    make_hot(spec, clock)
    assert is_hot(spec)
    fail(server)
    rows[1] = Versioned(2, b"new")
    assert spec.load_many([1]) == {1: b"old"}  # a copy, not yet as old as it may get
    clock.now += LIMITS.copy_s
    assert spec.load_many([1]) == {1: b"new"}
    assert not is_hot(spec)
    reports.clear()
    for _ in range(250):  # of two seconds and a half
        clock.now += REPORT_S / 100
        assert spec.load_many([1]) == {1: b"new"}
    # As few as ever: they make nobody wait again and again for a server that hangs.
    assert len(reports) == 2


def test_hot_again_when_redis_is_back_empty(server, spec, clock, rows):
    make_hot(spec, clock)
    kill(server)
    clock.now += REPORT_S
    spec.load_many([1])
    assert not is_hot(spec)
    rows[1] = Versioned(2, b"new")
    server.start()

    def is_hot_again():
        make_hot(spec, clock)
        assert spec.load_many([1]) == {1: b"new"}
        return is_hot(spec)

    until(is_hot_again)


# Of one hung call. A page makes two: a read and a write.
TIMEOUT_S = 0.25
PATIENCE_S = 20


@pytest.fixture(params=["away", "hung"])
def no_redis(request, settings, world):
    """Only Django's cache is without Redis; everything else has its own."""
    with socket.create_server(("127.0.0.1", free_port())) as server:
        port = server.getsockname()[1] if request.param == "hung" else free_port()
        default = settings.CACHES["default"]
        options = default["OPTIONS"] | {
            "SOCKET_TIMEOUT": TIMEOUT_S,
            "SOCKET_CONNECT_TIMEOUT": TIMEOUT_S,
        }
        location = f"redis://127.0.0.1:{port}/0"
        settings.CACHES = {"default": default | {"LOCATION": location, "OPTIONS": options}}
        yield


def test_reads_miss_and_writes_do_nothing_soon(no_redis):
    started = time.monotonic()
    assert cache.set("tests.name", 1, 60) is not True
    assert cache.get("tests.name") is None
    assert time.monotonic() - started < PATIENCE_S / 2


def test_the_site_is_described_without_it(no_redis):
    site_counts._Memory.fresh_until = 0
    assert Client().get("/api/v1/instance").status_code == 200


def test_nothing_waits_for_a_redis_that_another_request_found_to_hang(services, tmp_path):
    """A read and a write of Django's cache would wait for the time-out each."""
    timeout_s = 3.0
    limits = {"REDIS_TIMEOUT_MS": f"{timeout_s * 1000:.0f}"}
    environment = environment_of(services.environment() | limits)
    home = HungWorld().homes()[0]
    with running_web(environment, tmp_path / "web.log") as clients:
        assert clients.send(home).status == 200
        with hanging(services.redis):
            assert clients.send(home).took_s >= timeout_s
            answer = clients.send(Ask("site", "", "/api/v1/instance"))
    assert answer.status == 200
    assert answer.took_s < timeout_s
