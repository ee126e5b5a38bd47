"""A server that has no connection left: a process waits for one, and gives its own back."""

import threading

import psycopg
import pytest
from django.core.signals import request_finished
from django.db import OperationalError, connections, transaction

from infra.sharding.bounded import base, connection_shortage
from infra.sharding.scatter import scatter
from infra.sharding.sql import execute, fetch_one
from tests.races import run_together
from tests.waiting import until

ALIAS = "shard0"
ROLE = "one_connection"


@pytest.fixture
def crowded(world, monkeypatch):
    """This process is a role that may have one connection to this database."""
    execute(ALIAS, f"CREATE ROLE {ROLE} LOGIN CONNECTION LIMIT 1 IN ROLE pg_read_all_data")
    monkeypatch.setattr(connection_shortage, "_scarce_until", {})
    connection = connections[ALIAS]
    owner = connection.get_connection_params()
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "USER", ROLE)
    yield owner | {"user": ROLE}
    connection.close()
    monkeypatch.undo()
    execute(ALIAS, f"DROP ROLE {ROLE}")


@pytest.fixture
def other(crowded):
    """Another process has the only connection."""
    with psycopg.connect(**crowded) as connection:
        yield connection


def ask():
    return fetch_one(ALIAS, "SELECT 1")


def is_connected():
    return connections[ALIAS].connection is not None


def test_a_process_waits_until_a_connection_is_free(other):
    threading.Timer(0.3, other.close).start()
    assert ask() == (1,)


def test_a_process_does_not_wait_for_ever(other, monkeypatch):
    quick = base.patience()._replace(answer_s=0.2)
    monkeypatch.setattr(base, "patience", lambda: quick)
    with pytest.raises(OperationalError, match="too many connections"):
        ask()


def test_a_refused_process_gives_its_connection_back_after_each_request(other):
    threading.Timer(0.1, other.close).start()
    ask()
    request_finished.send(sender=None)
    assert not is_connected()


def test_the_calls_of_a_scatter_take_turns(crowded):
    """Each needs the connection on a thread of its own."""
    connection_shortage._note_refusal(ALIAS)
    answers = run_together([lambda: scatter({"shard1": lambda: 1, ALIAS: ask})] * 4)
    assert [answer[ALIAS] for answer in answers] == [(1,)] * 4


def test_a_transaction_keeps_its_connection(crowded):
    connection_shortage._note_refusal(ALIAS)
    with transaction.atomic(using=ALIAS):
        ask()
        connections[ALIAS].give_back()
        assert is_connected()
    connections[ALIAS].give_back()
    assert not is_connected()


def test_connections_are_kept_again_when_the_time_is_over(crowded, monkeypatch):
    monkeypatch.setattr(connection_shortage, "SCARCE_S", 0.1)
    connection_shortage._note_refusal(ALIAS)
    until(lambda: not connection_shortage.is_scarce(ALIAS))
    ask()
    request_finished.send(sender=None)
    assert is_connected()


def test_another_error_is_raised_at_once(crowded, monkeypatch):
    monkeypatch.setitem(connections[ALIAS].settings_dict, "USER", "no_such_role")
    with pytest.raises(OperationalError, match="no_such_role"):
        ask()
    assert not connection_shortage.is_scarce(ALIAS)
