"""A request to a server of others ends in time."""

import time

import pytest

from infra.outgoing import requests
from infra.outgoing.requests import post
from tests.push_service import push_service


def test_the_time_holds_for_the_connection_and_the_answer_together(monkeypatch, settings):
    """A sender of webhooks must end its turn before its claim runs out."""
    settings.PUSH_PRIVATE_ADDRESSES = True
    open_socket = requests.socket.create_connection

    def connect_slowly(*args, **options):
        time.sleep(0.8)
        return open_socket(*args, **options)

    with push_service() as hanging:
        hanging.waits.clear()
        monkeypatch.setattr(requests.socket, "create_connection", connect_slowly)
        began = time.monotonic()
        with pytest.raises(OSError):
            post(f"{hanging.url}/x", {}, b"", 1)
        took_s = time.monotonic() - began
        hanging.waits.set()
    assert took_s < 1.5
