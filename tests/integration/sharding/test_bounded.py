"""Every wait for a database has a limit; a slow statement opens no breaker."""

import os
import select
import signal
import time

import psycopg
import pytest
from django.db import OperationalError, close_old_connections, connections, transaction
from psycopg.pq import TransactionStatus

from infra.deadline import begin_deadline, end_deadline
from infra.sharding.bounded import base
from infra.sharding.bounded import breaker as breaker_module
from infra.sharding.bounded import wait_limits as patience_module
from infra.sharding.bounded.base import AnswerLimit, BoundedConnection
from infra.sharding.bounded.breaker import breaker_of, reset_breakers
from infra.sharding.bounded.wait_limits import _Kind, patience, wait_like_a_web_server
from infra.sharding.errors import DatabaseHangs, RequestTooLong
from infra.sharding.sql import Statement, execute, fetch_all, fetch_one, fetch_pipelined
from tests.waiting import until

ALIAS = "shard0"
SLEEP = "SELECT pg_sleep(%s)"
PID = "SELECT pg_backend_pid()"


@pytest.fixture
def web(world, settings, monkeypatch):
    """This process waits like a web server, for 400 ms."""
    settings.DATABASE_ANSWER_MS = 400
    monkeypatch.setattr(_Kind, "is_web", False)
    connections[ALIAS].close()
    wait_like_a_web_server()
    # On a crowded machine a probe may take long; these tests are about waits.
    fast = patience()._replace(probe_s=60.0)
    monkeypatch.setattr(breaker_module, "patience", lambda: fast)
    yield
    monkeypatch.undo()
    patience.cache_clear()
    connections[ALIAS].close()
    reset_breakers()


def test_an_unused_session_ends_and_the_next_query_opens_another(world, monkeypatch):
    """Without a signal of a request: a drainer's thread has none."""
    monkeypatch.setattr(patience_module, "IDLE_S", 0.1)
    connections[ALIAS].close()
    before = fetch_one(ALIAS, PID)
    until(lambda: not is_open(before))
    assert fetch_one(ALIAS, PID) != before
    connections[ALIAS].close()


def test_a_session_that_was_sent_a_message_is_replaced(world):
    """It may be the message that the session ended, a moment before the socket closes."""
    with connections[ALIAS].cursor() as cursor:
        cursor.execute("LISTEN something")
    before = fetch_one(ALIAS, PID)
    with psycopg.connect(**connections[ALIAS].get_connection_params()) as other:
        other.execute("NOTIFY something")
    select.select([connections[ALIAS].connection], [], [])
    assert fetch_one(ALIAS, PID) != before


def test_a_transaction_that_lasts_keeps_its_session(world, monkeypatch):
    monkeypatch.setattr(patience_module, "IDLE_S", 0.1)
    connections[ALIAS].close()
    with transaction.atomic(using=ALIAS):
        before = fetch_one(ALIAS, PID)
        other = connections[ALIAS].copy()
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.3)")
        assert fetch_one(ALIAS, PID) == before
        other.close()
    connections[ALIAS].close()


@pytest.fixture
def hangs_at_autocommit(world, monkeypatch):
    """The next change of the mode of a transaction finds that the database hangs."""
    change = BoundedConnection.set_autocommit
    times = iter([True])

    def change_unless_hung(connection, value):
        if value and next(times, False):
            raise DatabaseHangs(f"{ALIAS} does not answer")
        return change(connection, value)

    def arm():
        monkeypatch.setattr(BoundedConnection, "set_autocommit", change_unless_hung)

    yield arm
    monkeypatch.undo()
    connections[ALIAS].close()


def assert_statements_are_committed():
    fetch_one(ALIAS, "SELECT 1")
    assert connections[ALIAS].connection.info.transaction_status == TransactionStatus.IDLE


def test_a_connection_that_failed_halfway_is_not_used(hangs_at_autocommit):
    """In it, statements would be in a transaction that never ends, and would be lost."""
    fetch_one(ALIAS, "SELECT 1")
    connections[ALIAS].close()
    hangs_at_autocommit()
    with pytest.raises(OperationalError):
        fetch_one(ALIAS, "SELECT 1")
    assert_statements_are_committed()


def test_a_connection_whose_transaction_did_not_end_whole_is_not_used(hangs_at_autocommit):
    """The commit was done, and the database hung a moment later."""
    with pytest.raises(OperationalError), transaction.atomic(using=ALIAS):
        fetch_one(ALIAS, "SELECT 1")
        hangs_at_autocommit()
    with transaction.atomic(using=ALIAS):
        fetch_one(ALIAS, "SELECT 1")
    assert_statements_are_committed()


def is_open(session):
    with psycopg.connect(**connections[ALIAS].get_connection_params()) as other:
        return other.execute("SELECT pid FROM pg_stat_activity WHERE pid = %s", session).fetchone()


@pytest.fixture
def late_server(web):
    """The server itself does not end slow statements, as one that hangs."""
    execute(ALIAS, "SET statement_timeout = 0")


def test_the_server_ends_a_slow_statement_and_the_connection_stays(web):
    pid = fetch_one(ALIAS, PID)
    with pytest.raises(OperationalError, match="statement timeout"):
        fetch_one(ALIAS, SLEEP, (5,))
    assert fetch_one(ALIAS, PID) == pid


@pytest.mark.parametrize(
    "wait",
    [
        lambda: fetch_one(ALIAS, SLEEP, (5,)),
        lambda: fetch_pipelined(ALIAS, [Statement(SLEEP, (5,)), Statement("SELECT 2")]),
    ],
)
def test_a_late_answer_is_never_read_as_the_next_one(late_server, wait):
    with pytest.raises(OperationalError, match="shard0 gave no answer"), atomic():
        wait()
    assert fetch_one(ALIAS, "SELECT 3") == (3,)


def test_a_thread_without_requests_gets_another_connection(late_server):
    """As those that refresh campaigns and deliver changes, which never begin a request."""
    with pytest.raises(OperationalError):
        fetch_one(ALIAS, SLEEP, (5,))
    with atomic():
        assert fetch_one(ALIAS, "SELECT 3") == (3,)


def test_a_thread_that_drops_old_connections_does_not_connect(web):
    fetch_one(ALIAS, PID)
    connections[ALIAS].connection.close()
    breaker_of(ALIAS).is_open = True
    close_old_connections()
    with pytest.raises(OperationalError, match="does not answer"):
        fetch_one(ALIAS, PID)


def test_a_transaction_does_not_go_on_in_another_session(late_server):
    with pytest.raises(OperationalError, match="shard0 gave no answer"), atomic():
        try:
            fetch_one(ALIAS, SLEEP, (5,))
        finally:
            with pytest.raises(OperationalError, match="closed"):
                fetch_one(ALIAS, "SELECT 3")


def test_a_large_statement_that_the_server_reads_late_is_waited_for(late_server, monkeypatch):
    """It reads nothing at first, so the client is still sending when the first wait ends."""
    patient = patience()._replace(answer_s=60.0, suspect_s=0.05)
    monkeypatch.setattr(base, "patience", lambda: patient)
    (pid,) = fetch_one(ALIAS, PID)
    look = AnswerLimit.look

    def go_on(self, waited_s):
        os.kill(pid, signal.SIGCONT)
        look(self, waited_s)

    monkeypatch.setattr(AnswerLimit, "look", go_on)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert fetch_one(ALIAS, "SELECT length(%s)", ("x" * 2**24,)) == (2**24,)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert fetch_one(ALIAS, PID) == (pid,)


def test_a_slow_statement_opens_no_breaker(late_server):
    assert fetch_all(ALIAS, SLEEP, (0.3,))
    assert not breaker_of(ALIAS).is_open


def test_commands_wait_longer(world):
    assert patience().answer_s > 20
    assert fetch_all(ALIAS, SLEEP, (0.6,))


@pytest.fixture
def breaker(world):
    """An open one, without a probe."""
    reset_breakers()
    fetch_one(ALIAS, "SELECT 1")
    breaker = breaker_of(ALIAS)
    breaker.is_open = True
    yield breaker
    reset_breakers()


def test_an_open_breaker_refuses_every_use_until_a_probe_is_answered(breaker):
    for use in (fetch_one, execute):
        with pytest.raises(OperationalError, match="shard0 does not answer"):
            use(ALIAS, "SELECT 1")
    with pytest.raises(OperationalError, match="shard0 does not answer"), atomic():
        pass
    breaker.suspect()
    until(lambda: not breaker.is_open)
    assert fetch_one(ALIAS, "SELECT 1") == (1,)


def test_a_server_that_refuses_a_probe_answers(breaker, monkeypatch):
    monkeypatch.setattr(breaker, "_parameters", {**breaker._parameters, "dbname": "unknown"})
    breaker.suspect()
    until(lambda: not breaker.is_open)


def atomic():
    return transaction.atomic(using=ALIAS)


@pytest.fixture
def late():
    """A read that has 0.2 s."""
    connections[ALIAS].ensure_connection()
    token = begin_deadline(time.monotonic() + 0.2)
    yield
    end_deadline(token)


def test_a_statement_of_a_late_read_is_broken_off_and_the_session_stays(world, late):
    session = connections[ALIAS].connection
    begin = time.monotonic()
    with pytest.raises(OperationalError) as error:
        fetch_one(ALIAS, SLEEP, (20,))
    assert isinstance(error.value.__cause__, psycopg.errors.QueryCanceled)
    assert time.monotonic() - begin < 5 and not session.closed


def test_a_server_that_does_not_break_it_off_loses_the_connection(world, late, monkeypatch):
    def fail(connection, timeout):
        raise psycopg.errors.CancellationTimeout

    monkeypatch.setattr(BoundedConnection, "cancel_safe", fail)
    session = connections[ALIAS].connection
    with pytest.raises(OperationalError) as error:
        fetch_one(ALIAS, SLEEP, (20,))
    assert isinstance(error.value.__cause__, RequestTooLong) and session.closed


def test_a_read_in_time_is_not_broken_off(world):
    token = begin_deadline(time.monotonic() + 30)
    try:
        assert fetch_one(ALIAS, "SELECT 1 FROM pg_sleep(0.3)") == (1,)
    finally:
        end_deadline(token)
