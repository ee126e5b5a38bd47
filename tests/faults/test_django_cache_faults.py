"""Django's cache when Redis is away or hangs: pages are built each time, without a long wait."""

import socket
import time

import pytest
from django.core.cache import cache
from django.test import Client

from accounts.queries import site_counts
from lab.runner.port import free_port
from tests.faults.hung_world import HungWorld, environment_of, running_web
from tests.paced_requests import Ask
from tests.server_faults import hanging

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
