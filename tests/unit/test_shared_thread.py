"""Requests of one thread: they share round trips, and none of them stops or breaks another one.

A background thread starts once, ends when asked, and starts again in a forked process.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest
from greenlet import getcurrent

from infra.background import BackgroundThread
from infra.shared_thread import (
    OwnThreadNeeded,
    SharedThread,
    is_in_shared_thread,
    need_own_thread,
    share_exchange,
)
from tests.waiting import PATIENCE_S


class Store:
    """Answers each command with itself. `trips`: what each round trip asked."""

    def __init__(self):
        self.trips = []

    def exchange(self, commands):
        self.trips.append([name for (name,) in commands])
        if ("broken",) in commands:
            raise ConnectionError("away")
        return [f"reply to {name}" for (name,) in commands]


@pytest.fixture
def store():
    return Store()


def serve_all(serve, works):
    """What was left to other threads."""
    left = []
    thread = SharedThread(serve, left.append)
    waits = thread.turn(works)
    while waits:
        waits = thread.turn([])
    return left


def test_requests_share_a_round_trip_and_get_their_own_replies(store):
    answers = {}

    def serve(work):
        answers[work] = share_exchange(store.exchange, [(f"{work}1",), (f"{work}2",)])

    assert serve_all(serve, ["a", "b"]) == []
    assert store.trips == [["a1", "a2", "b1", "b2"]]
    assert answers == {
        "a": ["reply to a1", "reply to a2"],
        "b": ["reply to b1", "reply to b2"],
    }


def test_a_second_question_shares_the_trip_of_new_requests(store):
    ended = []

    def serve(work):
        for number in range(2 if work == "long" else 1):
            share_exchange(store.exchange, [(f"{work}{number}",)])
        ended.append(work)

    thread = SharedThread(serve, lambda _: None)
    assert thread.turn(["long", "short"]) is True
    assert ended == ["short"]
    assert thread.turn(["new"]) is False
    assert store.trips == [["long0", "short0"], ["long1", "new0"]]
    assert ended == ["short", "long", "new"]


def test_a_failed_round_trip_fails_all_that_asked_in_it(store):
    errors = {}

    def serve(work):
        try:
            share_exchange(store.exchange, [(work,)])
        except ConnectionError as error:
            errors[work] = str(error)
            share_exchange(store.exchange, [("again",)])

    serve_all(serve, ["broken", "other"])
    assert errors == {"broken": "away", "other": "away"}
    assert store.trips == [["broken", "other"], ["again", "again"]]


@pytest.mark.parametrize("when", ["before it asks", "after it asked"])
def test_what_waits_for_something_else_is_left_to_another_thread(store, when):
    ended = []

    def serve(work):
        if work == "slow" and when == "before it asks":
            need_own_thread()
        share_exchange(store.exchange, [(work,)])
        if work == "slow":
            need_own_thread()
        ended.append(work)

    assert serve_all(serve, ["slow", "quick"]) == ["slow"]
    assert ended == ["quick"]


def test_no_handler_of_errors_hides_that_a_thread_is_needed(store):
    def serve(_):
        try:
            need_own_thread()
        except Exception:
            share_exchange(store.exchange, [("hidden",)])

    assert serve_all(serve, ["one"]) == ["one"]
    assert store.trips == []


def test_an_error_of_one_request_ends_only_this_one(store):
    ended = []

    def serve(work):
        share_exchange(store.exchange, [(work,)])
        if work == "bad":
            raise ValueError(work)
        ended.append(work)

    assert serve_all(serve, ["bad", "good"]) == []
    assert ended == ["good"]


def test_different_clients_have_round_trips_of_their_own(store):
    other, answers = Store(), {}

    def serve(work):
        asked = other if work == "other" else store
        answers[work] = share_exchange(asked.exchange, [(work,)])

    serve_all(serve, ["one", "other", "two"])
    assert (store.trips, other.trips) == ([["one", "two"]], [["other"]])
    assert answers["other"] == ["reply to other"]


def test_a_request_that_goes_on_to_another_client_is_asked_for_once(store):
    """Its second question waits for the next turn, also if this turn asks the other client."""
    other, answers = Store(), {}

    def serve(work):
        first, second = (store, other) if work == "both" else (other, other)
        answers[work] = [
            *share_exchange(first.exchange, [(f"{work}1",)]),
            *share_exchange(second.exchange, [(f"{work}2",)]),
        ]

    serve_all(serve, ["both", "other"])
    assert answers == {
        work: [f"reply to {work}1", f"reply to {work}2"] for work in ("both", "other")
    }
    assert (store.trips, other.trips) == ([["both1"]], [["other1"], ["both2", "other2"]])


def test_equal_commands_that_confirm_are_sent_once_and_no_others():
    sent, answers = [], {}

    def exchange(commands):
        sent.extend(commands)
        return list(range(len(commands)))

    def serve(work):
        own = [b"packed", ("GET", b"key"), work]
        answers[work] = share_exchange(exchange, own)

    serve_all(serve, [b"1", b"2"])
    assert sent == [b"packed", ("GET", b"key"), b"1", ("GET", b"key"), b"2"]
    assert answers == {b"1": [0, 1, 2], b"2": [0, 3, 4]}


def test_a_greenlet_that_served_serves_the_next_request(store):
    served_by = []

    def serve(work):
        served_by.append(getcurrent())
        share_exchange(store.exchange, [(work,)])
        if work == "bad":
            raise ValueError(work)
        if work == "slow":
            need_own_thread()

    thread = SharedThread(serve, lambda _: None)
    for work in ("good", "bad", "slow", "good"):
        assert thread.turn([work]) is False
    assert len(served_by) == 4
    assert len(set(served_by)) == 1


def test_requests_have_contexts_of_their_own(store):
    current, seen = ContextVar("current", default="none"), {}

    def serve(work):
        seen[work] = [current.get()]
        current.set(work)
        share_exchange(store.exchange, [(work,)])
        seen[work].append(current.get())

    serve_all(serve, ["a", "b"])
    assert seen == {"a": ["none", "a"], "b": ["none", "b"]}
    assert current.get() == "none"


def test_other_threads_wait_as_always():
    assert not is_in_shared_thread()
    need_own_thread()
    assert issubclass(OwnThreadNeeded, BaseException)
    assert not issubclass(OwnThreadNeeded, Exception)


class Waiter(BackgroundThread):
    def __init__(self):
        self.runs = 0
        super().__init__()

    def run(self):
        self.runs += 1
        self.stopped.wait(PATIENCE_S)


def test_many_starts_begin_one_thread():
    waiter, barrier = Waiter(), threading.Barrier(8)

    def start():
        barrier.wait()
        waiter.start()

    with ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(start)
    waiter.stop()
    assert waiter.runs == 1


def test_stop_without_a_thread_returns():
    waiter = Waiter()
    waiter.stop()
    assert waiter.runs == 0


def test_forked_process_starts_a_thread_of_its_own():
    waiter = Waiter()
    waiter.start()
    pid = os.fork()
    if pid == 0:
        waiter.start()
        waiter.stop()
        os._exit(waiter.runs)
    _, status = os.waitpid(pid, 0)
    waiter.stop()
    assert os.waitstatus_to_exitcode(status) == 2, "the parent's run and one more"
    assert waiter.runs == 1
