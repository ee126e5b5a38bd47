"""What our connections set, on servers whose own settings are PostgreSQL's.

Raw statements are prepared, and a migration that changes their columns costs one call.

A breaker that opens in the middle of a pipeline leaves no connection with an open pipeline.

In such a connection the next statement would be answered, and never committed.

A server that has no connection left: a process waits for one, and gives its own back.
"""

import threading
from collections.abc import Iterator
from typing import ClassVar

import psycopg
import pytest
from django.core.signals import request_finished
from django.db import OperationalError, connections, transaction

from config.environment import merge_options, session_options
from infra.sharding.bounded import base, breaker
from infra.sharding.bounded.limits import LimitedConnection
from infra.sharding.bounded.moved_rows import PREPARED_AFTER
from infra.sharding.scatter import scatter
from infra.sharding.shards import all_aliases
from infra.sharding.sql import Statement, execute, fetch_all, fetch_one, fetch_pipelined
from tests.races import run_together
from tests.waiting import until

OF_SERVER = """
SELECT name, setting, boot_val FROM pg_settings
WHERE name IN ('max_connections', 'max_parallel_workers', 'shared_buffers', 'wal_level', 'work_mem')
"""


def test_jit_is_off_on_every_connection(world):
    for alias in all_aliases():
        assert fetch_one(alias, "SHOW jit") == ("off",)
        assert fetch_one(alias, "SELECT boot_val, source FROM pg_settings WHERE name = 'jit'") == (
            "on",
            "client",
        )


def test_servers_of_tests_have_stock_settings(world):
    found = {name: (setting, stock) for name, setting, stock in fetch_all("shard0", OF_SERVER)}
    assert len(found) == 5
    del found["shared_buffers"]  # initdb chooses it
    assert [name for name, (setting, stock) in found.items() if setting != stock] == []


def test_server_uses_the_last_value_of_a_parameter(world):
    connection = connections["shard1"].copy()
    ours = {"options": session_options(statement_timeout=20_000)}
    url = {"options": "-c statement_timeout=5s -c work_mem=8MB"}
    connection.settings_dict = connection.settings_dict | {"OPTIONS": merge_options(ours, url)}
    try:
        with connection.cursor() as cursor:
            for name, value in (("statement_timeout", "5s"), ("work_mem", "8MB"), ("jit", "off")):
                cursor.execute(f"SHOW {name}")
                assert cursor.fetchone() == (value,)
    finally:
        connection.close()


ALIAS = "shard0"
READ = "SELECT name FROM changing WHERE id = %s"
PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"


@pytest.fixture
def changing(world: None) -> Iterator[None]:
    execute(ALIAS, "CREATE TABLE changing (id bigint PRIMARY KEY, name varchar(5))")
    execute(ALIAS, "INSERT INTO changing VALUES (1, 'ann')")
    yield
    execute(ALIAS, "DROP TABLE changing")


def make_wider() -> None:
    """As a migration does, in a session of its own."""
    other = connections[ALIAS].copy()
    with other.cursor() as cursor:
        cursor.execute("ALTER TABLE changing ALTER COLUMN name TYPE text")
    other.close()


def read_often() -> None:
    calls = PREPARED_AFTER + 1
    assert [fetch_all(ALIAS, READ, (1,)) for _ in range(calls)] == [[("ann",)]] * calls


def test_a_statement_is_prepared_after_some_calls(changing: None) -> None:
    read_often()
    assert fetch_one(ALIAS, PREPARED, ("SELECT name FROM changing%",)) == (1,)


def test_a_wider_column_costs_one_call(changing: None) -> None:
    read_often()
    make_wider()
    with pytest.raises(OperationalError, match="try again"):
        fetch_all(ALIAS, READ, (1,))
    read_often()


@pytest.mark.parametrize("is_pipelined", [False, True])
def test_a_wider_column_costs_one_transaction(changing: None, is_pipelined: bool) -> None:
    read_often()
    make_wider()
    with pytest.raises(OperationalError, match="try again"), transaction.atomic(using=ALIAS):
        if is_pipelined:
            fetch_pipelined(ALIAS, [Statement("SELECT 1"), Statement(READ, (1,))])
        else:
            fetch_all(ALIAS, READ, (1,))
    with transaction.atomic(using=ALIAS):
        assert fetch_pipelined(ALIAS, [Statement(READ, (1,))] * 2) == [[("ann",)]] * 2


class SwitchedLimit:
    """Refuses waits while `is_open`."""

    is_open = False

    def check(self) -> None:
        if self.is_open:
            raise psycopg.OperationalError("open")

    def first_look_s(self) -> float:
        return 30.0

    def look(self, waited_s: float) -> None:
        raise psycopg.OperationalError("too long")


class SwitchedConnection(LimitedConnection):
    limit: ClassVar = SwitchedLimit()


def connect() -> SwitchedConnection:
    parameters = connections["shard0"].get_connection_params()
    wanted = {n: parameters[n] for n in ("host", "port", "user", "dbname") if n in parameters}
    return SwitchedConnection.connect(**wanted, autocommit=True)


def test_breaker_that_opens_in_a_pipeline_closes_the_connection(world):
    connection = connect()
    with pytest.raises(psycopg.Error), connection.pipeline():
        connection.execute("SELECT 1")
        SwitchedConnection.limit.is_open = True
    SwitchedConnection.limit.is_open = False
    with pytest.raises(psycopg.OperationalError, match="the connection is closed"):
        connection.execute("SELECT 1")


def test_breaker_that_opens_in_an_empty_pipeline_closes_the_connection(world):
    connection = connect()
    with pytest.raises(psycopg.Error), connection.pipeline():
        SwitchedConnection.limit.is_open = True
    SwitchedConnection.limit.is_open = False
    with pytest.raises(psycopg.OperationalError, match="the connection is closed"):
        connection.execute("SELECT 1")


def test_breaker_that_is_open_before_a_statement_leaves_the_connection(world):
    with connect() as connection:
        SwitchedConnection.limit.is_open = True
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        SwitchedConnection.limit.is_open = False
        assert connection.execute("SELECT 2").fetchone() == (2,)


ROLE = "one_connection"


@pytest.fixture
def crowded(world, monkeypatch):
    """This process is a role that may have one connection to this database."""
    execute(ALIAS, f"CREATE ROLE {ROLE} LOGIN CONNECTION LIMIT 1 IN ROLE pg_read_all_data")
    monkeypatch.setattr(breaker, "_scarce_until", {})
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
    breaker._note_refusal(ALIAS)
    answers = run_together([lambda: scatter({"shard1": lambda: 1, ALIAS: ask})] * 4)
    assert [answer[ALIAS] for answer in answers] == [(1,)] * 4


def test_a_transaction_keeps_its_connection(crowded):
    breaker._note_refusal(ALIAS)
    with transaction.atomic(using=ALIAS):
        ask()
        connections[ALIAS].give_back()
        assert is_connected()
    connections[ALIAS].give_back()
    assert not is_connected()


def test_connections_are_kept_again_when_the_time_is_over(crowded, monkeypatch):
    monkeypatch.setattr(breaker, "SCARCE_S", 0.1)
    breaker._note_refusal(ALIAS)
    until(lambda: not breaker.is_scarce(ALIAS))
    ask()
    request_finished.send(sender=None)
    assert is_connected()


def test_another_error_is_raised_at_once(crowded, monkeypatch):
    monkeypatch.setitem(connections[ALIAS].settings_dict, "USER", "no_such_role")
    with pytest.raises(OperationalError, match="no_such_role"):
        ask()
    assert not breaker.is_scarce(ALIAS)
