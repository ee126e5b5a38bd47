"""A process knows until when it has all invalidations, and never claims more."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from infra.caching import listener
from infra.caching.client import FeedRedis
from infra.caching.copy_ages import AgeLimit
from infra.caching.invalidation import (
    invalidation_command,
    receive_invalidation,
    register_copies,
)
from infra.caching.listener import PROOF_EVERY_S, PROVED_S, InvalidationListener
from infra.caching.process_cache import ProcessCache
from infra.caching.scripts import load_script
from tests.waiting import until

SOME = invalidation_command("tests.proofs:v1", [1])


def has_all(one: InvalidationListener) -> bool:
    return one.has_all(time.monotonic())


@pytest.fixture
def heard(cache: FeedRedis) -> Iterator[InvalidationListener]:
    """A listener with a proof. Its thread ends with the process."""
    one = InvalidationListener()
    one.start()
    until(lambda: has_all(one))
    yield one
    one._wanted_at = float("-inf")


def test_nothing_is_proved_before_the_first_answer(cache: FeedRedis) -> None:
    assert not has_all(InvalidationListener())


def test_proofs_go_on_while_somebody_asks(heard: InvalidationListener) -> None:
    ends_at = time.monotonic() + 2 * PROVED_S
    while time.monotonic() < ends_at:
        assert has_all(heard)
        time.sleep(0.05)


def test_proofs_end_when_nobody_asks(
    heard: InvalidationListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "WANTED_S", 0.0)
    time.sleep(2 * PROOF_EVERY_S)
    proved_at = heard._proved_at
    time.sleep(2 * PROOF_EVERY_S)
    assert heard._proved_at == proved_at


def test_a_message_that_is_not_applied_yet_is_not_proved(
    heard: InvalidationListener, cache: FeedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each proof is the answer to a question that came after all applied messages."""
    began, may_go_on = threading.Event(), threading.Event()

    def hold(message: bytes) -> None:
        began.set()
        may_go_on.wait()
        receive_invalidation(message)

    monkeypatch.setattr(listener, "receive_invalidation", hold)
    published_at = time.monotonic()
    cache.run([SOME])
    try:
        assert began.wait(5)
        until(lambda: not has_all(heard))
        assert heard._proved_at <= published_at
    finally:
        may_go_on.set()
    until(lambda: has_all(heard))
    assert heard._proved_at > published_at


def test_an_answer_proves_nothing_of_the_time_after_its_question(
    heard: InvalidationListener, cache: FeedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages that were published between the two may come after the answer."""
    answered, may_prove = threading.Event(), threading.Event()
    arrived, may_apply = threading.Event(), threading.Event()
    read = heard._connection.read_response

    def read_slowly() -> Any:
        reply = read()
        if reply[0] == b"message":
            arrived.set()
            may_apply.wait()
        elif not answered.is_set():
            answered.set()
            may_prove.wait()
        return reply

    monkeypatch.setattr(heard._connection, "read_response", read_slowly)
    heard.has_all(time.monotonic())  # so it asks
    try:
        assert answered.wait(5)
        published_at = time.monotonic()
        cache.run([SOME])
        may_prove.set()
        assert arrived.wait(5)
        assert not heard.has_all_since(published_at)
    finally:
        may_prove.set()
        may_apply.set()


def test_what_was_read_while_no_message_could_arrive_is_not_kept(
    heard: InvalidationListener, cache: FeedRedis
) -> None:
    """It may have changed since, and the message is lost. Later proofs are not about it."""
    copies: ProcessCache[int, str] = ProcessCache(
        "tests.proofs:v1", 10, AgeLimit(30.0, 30.0, heard.has_all)
    )
    register_copies("tests.proofs:v1", copies)
    heard._connection._sock.shutdown(socket.SHUT_RDWR)
    until(lambda: heard._is_disconnected)
    copies.store({1: "old"}, time.monotonic())
    assert copies.split([1]).hits
    cache.run([SOME])  # nobody receives it
    until(lambda: has_all(heard))
    assert not copies.split([1]).hits


def test_a_cut_connection_ends_the_proof(heard: InvalidationListener) -> None:
    heard._connection._sock.shutdown(socket.SHUT_RDWR)
    until(lambda: heard._proved_at == float("-inf"))
    assert not has_all(heard)
    until(lambda: has_all(heard))


def test_another_server_ends_the_proof_at_once(heard: InvalidationListener) -> None:
    heard.renew()
    assert not has_all(heard)
    until(lambda: has_all(heard))


def test_a_cluster_proves_nothing(
    heard: InvalidationListener, cache: FeedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its nodes pass messages on, at any time after the answer to a PING."""
    monkeypatch.setattr(cache, "has_ordered_messages", False)
    heard.renew()
    ends_at = time.monotonic() + PROVED_S + 2 * PROOF_EVERY_S + 1.5
    while time.monotonic() < ends_at:
        assert not has_all(heard)
        time.sleep(0.05)


def test_an_invalidation_comes_after_a_script_that_redis_did_not_know(
    cache: FeedRedis, tmp_path: Path
) -> None:
    """Else a process would read the old value after the message, and keep it."""
    file = tmp_path / "new.lua"
    file.write_text(f"redis.call('SET', KEYS[1], 'new') return 1 -- {uuid4()}")
    script = load_script(file).on([b"tests.proofs:v1:{1}"])
    seen: list[bytes] = []
    connection = cache.open_connection()
    connection.connect()
    connection.send_command("SUBSCRIBE", SOME[1])
    connection.read_response()
    cache.run([script, SOME])
    while connection.can_read(timeout=0.5):
        connection.read_response()
        seen.append(cache.call("GET", "tests.proofs:v1:{1}"))
    connection.disconnect()
    assert seen[-1] == b"new"
    assert len(seen) == 2, "once with the script, once after it ran"
