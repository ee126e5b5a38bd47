"""Questions a scrape does not wait for."""

import threading
import time

import pytest

from infra.telemetry.looks import Looks
from tests.waiting import PATIENCE_S


@pytest.fixture
def hung():
    """A store that hangs until the test ends; `calls` counts who asked."""

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


def test_who_hangs_is_left_out_and_keeps_one_thread(hung):
    looks = Looks(every_s=30, patience_s=0.2)
    for _ in range(3):
        began = time.monotonic()
        assert looks.ask({"hung": hung, "well": lambda: 1}) == {"well": 1}
        # Whoever waited for it would wait five times as long.
        assert time.monotonic() - began < PATIENCE_S / 5
    assert hung.calls == 1


def test_an_answer_serves_all_scrapes_of_a_while():
    calls = []
    looks = Looks(every_s=60, patience_s=20)
    answers = [looks.ask({"one": lambda: calls.append(1) or "fine"}) for _ in range(3)]
    assert answers == [{"one": "fine"}] * 3
    assert len(calls) == 1


def test_who_fails_is_left_out_and_asked_again():
    answers = iter([ValueError("no"), "well again"])

    def store():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    looks = Looks(every_s=60, patience_s=20)
    assert looks.ask({"store": store}) == {}
    assert looks.ask({"store": store}) == {"store": "well again"}


def test_an_old_answer_does_not_stand_for_who_hangs_now(hung):
    looks = Looks(every_s=0, patience_s=0.2)
    assert looks.ask({"store": lambda: "fine"}) == {"store": "fine"}
    assert looks.ask({"store": hung}) == {}
