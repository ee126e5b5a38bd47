"""Connections outlive requests; one that broke is made anew by the next request of its thread."""

import psycopg
import pytest
from django.core.signals import request_finished, request_started
from django.db import OperationalError, connections, transaction

from infra.sharding.bounded import base, breaker
from infra.sharding.bounded.base import DatabaseWrapper
from infra.sharding.sql import fetch_one
from tests.races import run_together

ALIAS = "shard0"
PID = "SELECT pg_backend_pid()"
# The second number: return when they have ended, after five seconds at most.
END = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def end_sessions():
    with psycopg.connect(**connections[ALIAS].get_connection_params()) as other:
        other.execute(END)


def begin_request():
    request_started.send(sender=None)


@pytest.fixture(autouse=True)
def connected(world):
    connections[ALIAS].close()
    yield
    connections[ALIAS].close()


def test_connection_is_kept_from_request_to_request():
    pids = set()
    for _ in range(3):
        begin_request()
        pids.add(fetch_one(ALIAS, PID))
        request_finished.send(sender=None)
    assert len(pids) == 1


def test_connection_that_broke_between_requests_costs_no_request():
    """Nobody has noticed yet: its health is checked before its first query."""
    begin_request()
    before = fetch_one(ALIAS, PID)
    end_sessions()
    begin_request()
    assert fetch_one(ALIAS, PID) != before


@pytest.fixture
def questions(monkeypatch):
    """Grows with each SELECT 1 that asks a session whether it is healthy."""
    asked, ask = [], DatabaseWrapper.is_usable
    monkeypatch.setattr(DatabaseWrapper, "is_usable", lambda one: asked.append(one) or ask(one))
    return asked


def serve_requests(count):
    for _ in range(count):
        begin_request()
        fetch_one(ALIAS, PID)


def test_session_that_answered_lately_is_not_asked_whether_it_is_healthy(questions):
    serve_requests(3)
    assert not questions


def test_silent_session_is_asked_once_a_request_and_replaced_if_it_is_lost(questions, monkeypatch):
    serve_requests(1)
    monkeypatch.setattr(base, "SILENT_S", float("-inf"))
    serve_requests(1)
    assert len(questions) == 1
    monkeypatch.setattr(DatabaseWrapper, "is_usable", lambda _: False)
    before = fetch_one(ALIAS, PID)
    begin_request()
    assert fetch_one(ALIAS, PID) != before


def test_connection_that_broke_between_statements_costs_nothing():
    begin_request()
    before = fetch_one(ALIAS, PID)
    end_sessions()
    assert fetch_one(ALIAS, PID) != before


def test_connection_that_broke_in_a_transaction_costs_that_request_alone():
    begin_request()
    with pytest.raises(OperationalError), transaction.atomic(using=ALIAS):
        fetch_one(ALIAS, PID)
        end_sessions()
        fetch_one(ALIAS, PID)
    begin_request()
    assert fetch_one(ALIAS, PID)


def test_transaction_that_was_left_open_does_not_reach_the_next_request():
    begin_request()
    connections[ALIAS].set_autocommit(False)
    begin_request()
    assert fetch_one(ALIAS, PID)
    assert connections[ALIAS].get_autocommit()


def test_each_thread_minds_its_own():
    begin_request()
    mine = fetch_one(ALIAS, PID)

    def another():
        fetch_one(ALIAS, PID)
        begin_request()
        return fetch_one(ALIAS, PID)

    assert mine not in run_together([another] * 3)
    assert fetch_one(ALIAS, PID) == mine


def test_a_copy_with_the_same_alias_takes_no_place(monkeypatch):
    monkeypatch.setattr(breaker, "_scarce_until", {})
    fetch_one(ALIAS, PID)
    copy = connections[ALIAS].copy()
    try:
        copy.connect()
        breaker._note_refusal(ALIAS)
        request_finished.send(sender=None)
        assert connections[ALIAS].connection is None
        assert copy.connection is not None
    finally:
        copy.close()
