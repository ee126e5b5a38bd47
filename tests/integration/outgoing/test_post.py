"""A request to a server of others ends in time."""

import time

import pytest

from infra.outgoing import post as outgoing
from tests.push_service import push_service


def test_the_time_holds_for_the_connection_and_the_answer_together(monkeypatch, settings):
    """A sender of webhooks must end its turn before its claim runs out."""
    settings.PUSH_PRIVATE_ADDRESSES = True
    connect = outgoing.socket.create_connection

    def connect_slowly(*args, **options):
        time.sleep(0.8)
        return connect(*args, **options)

    with push_service() as hanging:
        hanging.waits.clear()
        monkeypatch.setattr(outgoing.socket, "create_connection", connect_slowly)
        began = time.monotonic()
        with pytest.raises(OSError):
            outgoing.post(f"{hanging.url}/x", {}, b"", 1)
        took_s = time.monotonic() - began
        hanging.waits.set()
    assert took_s < 1.5
