"""The breaker: after a failure only its own thread asks, and all go on when it has an answer."""

import threading

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.breaker import Breaker, Pauses
from tests.waiting import PATIENCE_S, until

QUICK = Pauses(0.001, 0.002)
LONG = Pauses(2 * PATIENCE_S, 2 * PATIENCE_S)


class Server:
    """What the breaker's thread asks: it waits for the test before each answer."""

    def __init__(self, pauses=QUICK):
        self.asked, self.may_answer = threading.Semaphore(0), threading.Semaphore(0)
        self.answer = lambda: True
        self.kept = 0
        self.breaker = Breaker(self.recover, self.go_on, pauses)

    def recover(self):
        self.asked.release()
        assert self.may_answer.acquire(timeout=PATIENCE_S)
        return self.answer()

    def go_on(self):
        kept, self.kept = self.kept, 0
        return not kept

    def wait_until_asked(self):
        assert self.asked.acquire(timeout=PATIENCE_S)


@pytest.fixture
def server():
    server = Server()
    yield server
    server.answer = lambda: True
    server.may_answer.release(1_000)


def is_open(breaker):
    try:
        breaker.check()
    except RedisConnectionError:
        return True
    return False


def test_lets_everything_through_at_first(server):
    assert not is_open(server.breaker)


def test_after_a_failure_no_call_passes_until_the_server_answered(server):
    server.breaker.trip()
    server.wait_until_asked()
    assert is_open(server.breaker)
    server.may_answer.release()
    until(lambda: not is_open(server.breaker))


def away():
    raise RedisConnectionError("away")


def broken():
    raise ZeroDivisionError


@pytest.mark.parametrize("answer", [away, broken, lambda: False])
def test_attempt_that_fails_is_made_again(server, answer):
    server.answer = answer
    server.breaker.trip()
    for _ in range(3):
        server.wait_until_asked()
        server.may_answer.release()
    server.wait_until_asked()
    assert is_open(server.breaker)


def test_its_own_thread_passes(server):
    server.answer = lambda: not is_open(server.breaker)
    server.breaker.trip()
    server.may_answer.release(1_000)
    until(lambda: not is_open(server.breaker))


def test_failure_during_an_attempt_needs_another_attempt(server):
    """What that call wanted to send was perhaps not there yet when the attempt began."""
    server.breaker.trip()
    server.wait_until_asked()
    server.breaker.trip()
    server.may_answer.release()
    server.wait_until_asked()
    assert is_open(server.breaker)
    server.may_answer.release()
    until(lambda: not is_open(server.breaker))


def test_call_that_is_kept_during_an_attempt_is_made_at_once():
    """Under load one comes in each attempt. With a pause each time the breaker stayed open."""
    server = Server(LONG)
    server.breaker.trip()
    for _ in range(3):
        server.wait_until_asked()
        server.kept += 1
        server.breaker.open()
        server.may_answer.release()
    server.wait_until_asked()
    assert is_open(server.breaker)
    server.may_answer.release()
    until(lambda: not is_open(server.breaker))


def test_opens_for_a_call_that_is_to_be_made_first(server):
    server.breaker.open()
    assert is_open(server.breaker)
    server.may_answer.release()
    until(lambda: not is_open(server.breaker))


def test_opens_again_after_it_closed(server):
    for _ in range(2):
        server.breaker.trip()
        assert is_open(server.breaker)
        server.may_answer.release()
        until(lambda: not is_open(server.breaker))


def test_thread_ends_when_the_client_is_gone():
    server = Server()
    server.answer, breaker = away, server.breaker
    breaker.trip()
    server.may_answer.release(1_000)
    server.wait_until_asked()
    del server
    until(lambda: not is_open(breaker))
