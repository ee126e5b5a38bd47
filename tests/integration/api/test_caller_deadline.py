"""A caller says how long it waits: late reads are given up, and late requests do nothing."""

import time
from typing import Any

import pytest
from pytest_django import Settings

from accounts.queries import load
from infra import deadline
from infra.caching.client import redis
from infra.deadline import ARRIVED
from posts.models import Post
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.world import forget_memory, make_account, make_accounts

HEADER = "Tideline-Deadline-Ms"


def get(caller: Caller, path: str, wait_ms: object, **environment: Any) -> Any:
    return caller.client.get(path, headers={HEADER: str(wait_ms)}, **environment)


@pytest.fixture
def caller(world: None) -> Caller:
    return Caller(make_account())


def test_a_read_in_time_is_answered(caller: Caller) -> None:
    assert get(caller, "/api/v1/timelines/home", 20_000).status_code == 200


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "x", "600001", "9" * 30, "٣"])
def test_what_is_no_time_is_refused(caller: Caller, text: str) -> None:
    assert_refused(get(caller, "/api/v1/timelines/home", text), 422)
    sent = {"status": "hello"}
    answer = caller.client.post("/api/v1/statuses", sent, headers={HEADER: text})
    assert_refused(answer, 422)


def test_a_late_read_asks_no_database_any_more(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, ben = make_accounts(2)
    redis()._client.clear()  # type: ignore[attr-defined]
    forget_memory()
    token_read = Caller(ann)
    assert token_read.get("/api/v1/timelines/home").status_code == 200
    answer = load.answer

    def late_answer(question: Any) -> Any:
        time.sleep(0.3)
        return answer(question)

    monkeypatch.setattr(load, "answer", late_answer)
    with count_calls() as calls:
        refused = get(token_read, f"/api/v1/accounts/{ben}", 200)
    assert_refused(refused, 504)
    assert len(calls.statements) == 1, "the first wait was refused, and there was no other"
    assert token_read.get(f"/api/v1/accounts/{ben}").status_code == 200


def test_a_request_that_is_late_before_it_begins_does_nothing(caller: Caller) -> None:
    late = {ARRIVED: time.monotonic() - 1.0}
    with count_calls() as calls:
        assert_refused(get(caller, "/api/v1/timelines/home", 900, **late), 504)
        headers = {HEADER: "900"}
        sent = {"status": "hello"}
        answer = caller.client.post("/api/v1/statuses", sent, headers=headers, **late)
        assert_refused(answer, 504)
    assert (calls.round_trips, calls.statements) == (0, [])
    assert not any(Post.objects.on(alias).exists() for alias in ("shard0", "shard1"))


def test_a_long_time_is_that_of_the_site(settings: Settings) -> None:
    settings.READ_DEADLINE_MS = 500
    token = deadline.begin_deadline(time.monotonic() + 60)
    assert not deadline._current.get().is_callers
    assert not deadline.is_half_over()
    time.sleep(0.3)
    assert deadline.is_half_over()
    deadline.end_deadline(token)
    assert not deadline.has_passed()


def test_half_of_a_short_time_is_half_of_that() -> None:
    token = deadline.begin_deadline(time.monotonic() + 0.4)
    assert not deadline.is_half_over()
    time.sleep(0.25)
    assert deadline.is_half_over()
    assert not deadline.has_caller_gone()
    time.sleep(0.2)
    assert deadline.has_caller_gone()
    deadline.end_deadline(token)
