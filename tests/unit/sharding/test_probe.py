"""Probes: no caller waits past the deadline, and few threads wait for a store that hangs."""

import threading
import time

import pytest

from infra.sharding.probe import MAX_THREADS, CachedProbe, ProbeTimeout, probe_all
from tests.waiting import PATIENCE_S


@pytest.fixture
def hung():
    """A store that hangs until the test ends; `calls` counts the questions."""

    class Store:
        calls = 0

        def __init__(self):
            self.answers = threading.Event()

        def __call__(self):
            self.calls += 1
            self.answers.wait(PATIENCE_S)
            return "at last"

    store = Store()
    yield store
    store.answers.set()


def test_store_that_hangs_is_left_out_and_keeps_one_thread(hung):
    probe = CachedProbe(valid_s=30, deadline_s=0.2)
    for _ in range(3):
        began = time.monotonic()
        assert probe.ask({"hung": hung, "well": lambda: 1}) == {"well": 1}
        # Waiting for the store itself would take five times as long.
        assert time.monotonic() - began < PATIENCE_S / 5
    assert hung.calls == 1


def test_answer_is_cached_while_it_is_valid():
    calls = []
    probe = CachedProbe(valid_s=60, deadline_s=20)
    answers = [probe.ask({"one": lambda: calls.append(1) or "fine"}) for _ in range(3)]
    assert answers == [{"one": "fine"}] * 3
    assert len(calls) == 1


def test_store_that_fails_is_left_out_and_probed_again():
    answers = iter([ValueError("no"), "well again"])

    def store():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    probe = CachedProbe(valid_s=60, deadline_s=20)
    assert probe.ask({"store": store}) == {}
    assert probe.ask({"store": store}) == {"store": "well again"}


def test_expired_answer_is_not_returned_for_a_store_that_hangs_now(hung):
    probe = CachedProbe(valid_s=0, deadline_s=0.2)
    assert probe.ask({"store": lambda: "fine"}) == {"store": "fine"}
    assert probe.ask({"store": hung}) == {}


def test_at_most_max_threads_wait_for_one_store(hung):
    for _ in range(MAX_THREADS + 2):
        answer = probe_all({"bounded": hung}, deadline_s=0.05)["bounded"]
        assert isinstance(answer.error, ProbeTimeout)
    assert hung.calls == MAX_THREADS
    assert answer.problem == "bounded does not answer: others wait for it already"
