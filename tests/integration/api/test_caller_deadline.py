"""A caller says how long it waits: late reads are given up, and late requests do nothing."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connections
from pytest_django import Settings

from accounts.queries import load
from infra import deadline
from infra.caching.client import redis
from infra.deadline import ARRIVED
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
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


PID = "SELECT pg_backend_pid()"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@contextmanager
def locked(alias: str) -> Iterator[psycopg.Connection[Any]]:
    """During the block no other session can read the accounts of this shard."""
    with psycopg.connect(**connections[alias].get_connection_params()) as other:
        other.execute("LOCK TABLE accounts_account IN ACCESS EXCLUSIVE MODE")
        yield other
        other.rollback()


def test_a_statement_that_runs_is_broken_off(caller: Caller) -> None:
    """It waits for a lock. The session stays, and the server has nothing left to do."""
    ann, ben = make_accounts(2)
    token_read, alias = Caller(ann), shard_of(ben)
    assert token_read.get("/api/v1/timelines/home").status_code == 200
    forget_memory()
    before = fetch_one(alias, PID)
    with locked(alias) as other:
        began_s = time.monotonic()
        assert_refused(get(token_read, f"/api/v1/accounts/{ben}", 300), 504)
        assert 0.29 < time.monotonic() - began_s < 1.5
        assert other.execute(WAITING).fetchone() == (0,)
    assert fetch_one(alias, PID) == before
    assert token_read.get(f"/api/v1/accounts/{ben}").json()["id"] == str(ben)


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
