"""A Redis that hangs, or that answers reads and refuses writes, while requests are answered."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from django.test import override_settings

from infra.caching import client, connected_server
from infra.caching.breaker import Breaker
from infra.caching.client import forget_client
from lab.faults.cluster.redis_refusals import refusing_writes
from lab.services import RunningServices
from lab.services.server import Server
from tests.redis_away import wait_for_redis
from tests.server_faults import hanging

HUNG = "hung"
# A crowded machine may take longer: one illness more.
IMPATIENT_MS = 100


@pytest.fixture
def server(services: RunningServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The Redis of this process: a request notices its illness by its first question.

    A write does not wait until other processes notice it, too: here are none.
    """
    monkeypatch.setattr(connected_server, "ACCEPTED_S", 0.0)
    monkeypatch.setattr(client, "SHORT_OUTAGE_S", 0.0)
    with override_settings(REDIS_TIMEOUT_MS=IMPATIENT_MS):
        forget_client()
        assert services.redis
        yield services.redis
        wait_for_redis()
    forget_client()


@contextmanager
def ill(server: Server, way: str) -> Iterator[list[None]]:
    """In the block Redis is ill; after it this process uses Redis again.

    The list has an entry for each question of this thread that got no answer, or a refusal.
    """
    socket = Path(urlsplit(server.url).path)
    with hanging(server) if way == HUNG else refusing_writes(socket, way), _trips() as trips:
        yield trips
    wait_for_redis()


@contextmanager
def _trips() -> Iterator[list[None]]:
    trips, trip, own = list[None](), Breaker.trip, threading.get_ident()

    def trip_aloud(breaker: Breaker) -> None:
        if threading.get_ident() == own:
            trips.append(None)
        trip(breaker)

    with patch.object(Breaker, "trip", trip_aloud):
        yield trips
