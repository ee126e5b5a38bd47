"""This process behind a real PgBouncer, as a web server is."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import OperationalError, connections, transaction

from infra.moving import AccountMoving, again_while_moving
from infra.sharding import readiness
from infra.sharding.buckets import current_map, shard_of
from infra.sharding.errors import PoolUnfit, SessionStateRefused, WrongDatabase
from infra.sharding.models import Bucket
from infra.sharding.sql import Statement, execute, fetch_all, fetch_one, fetch_pipelined
from tests.pgbouncer import ROLE, ask_pgbouncer, running_pgbouncer
from tests.pooling import using_pools
from tests.server_faults import kill
from tests.waiting import until

pytestmark = pytest.mark.slow

SHARD, OTHER, ACCOUNT = "shard0", "shard1", 16_384 + 8
TELL = "UPDATE sharding_databaseidentity SET map_epoch = %s"
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s"


def tell(services, alias, epoch):
    """As the mover does, on its direct connection."""
    with psycopg.connect(services.postgres[alias].url) as direct:
        direct.execute(TELL, (epoch,))


@pytest.fixture
def moved(pooled, services):
    """The bucket of ACCOUNT has moved to OTHER, and this process has the map of before."""
    assert shard_of(ACCOUNT) == SHARD
    fetch_one(SHARD, "SELECT 1")
    Bucket.objects.filter(bucket=8).update(alias=OTHER)
    for alias in ("default", SHARD):
        tell(services, alias, 7)
    yield
    Bucket.objects.filter(bucket=8).update(alias=SHARD)
    for alias in ("default", SHARD):
        tell(services, alias, 0)


def test_sessions_have_the_parameters_of_the_role(pooled):
    assert fetch_one(SHARD, "SELECT current_user::text") == (ROLE,)
    found = [fetch_one(SHARD, f"SHOW {name}") for name in ("jit", "statement_timeout", "timezone")]
    assert found == [("off",), ("1s",), ("UTC",)]


def test_many_threads_share_few_sessions_and_prepared_statements(pgbouncer, services):
    def ask(number):
        try:
            for _ in range(12):
                assert fetch_one(SHARD, "SELECT %s::int + 1", (number,)) == (number + 1,)
                assert fetch_one(SHARD, f"SELECT {number}") == (number,)
                with transaction.atomic(using=SHARD):
                    fetch_one(SHARD, "SELECT set_config('a.b', %s, true)", (str(number),))
                    assert fetch_one(SHARD, "SHOW a.b") == (str(number),)
            return fetch_one(SHARD, SESSIONS, (ROLE,))
        finally:
            connections.close_all()

    with running_pgbouncer(pgbouncer, services, size=3) as environment, using_pools(environment):
        with ThreadPoolExecutor(20) as threads:
            counts = [*threads.map(ask, range(20))]
        assert max(count for (count,) in counts) <= 3


@pytest.mark.parametrize(
    "sql",
    [
        "SET jit = on",
        " set session statement_timeout = 0",
        "RESET ALL",
        "DISCARD ALL",
        "PREPARE a AS SELECT 1",
        "DEALLOCATE ALL",
        "LISTEN a",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_try_advisory_lock_shared(1)",
        "SELECT pg_advisory_unlock_all()",
        "SELECT set_config('jit', 'off', false)",
        "CREATE TEMP TABLE a (b int)",
        "DECLARE a CURSOR WITH HOLD FOR SELECT 1",
    ],
)
def test_what_changes_a_session_is_refused(pooled, sql):
    with pytest.raises(SessionStateRefused):
        execute(SHARD, sql)
    with pytest.raises(SessionStateRefused), connections["default"].cursor() as cursor:
        cursor.execute(sql)


def in_autocommit():
    return fetch_all(SHARD, "SELECT 1")


def in_transaction():
    with transaction.atomic(using=SHARD):
        return fetch_all(SHARD, "SELECT 1")


def in_pipeline():
    with transaction.atomic(using=SHARD):
        return fetch_pipelined(SHARD, [Statement("SELECT 1"), Statement("SELECT 2")])[0]


def by_orm():
    with connections[SHARD].cursor() as cursor:
        cursor.execute("SELECT 1")
        return cursor.fetchall()


@pytest.mark.parametrize("ask", [in_autocommit, in_transaction, in_pipeline, by_orm])
def test_a_client_of_a_pool_learns_of_a_later_map(moved, ask):
    """Its connection to the pool stays: no session of the server tells it anything."""
    session = connections[SHARD].connection
    with pytest.raises(AccountMoving):
        ask()
    assert session.closed
    assert (current_map().epoch, shard_of(ACCOUNT)) == (7, OTHER)
    assert ask() == [(1,)]


@pytest.mark.parametrize("is_read", [True, False])
def test_a_call_with_an_old_map_begins_again(moved, is_read):
    asked = []

    def ask():
        asked.append(shard_of(ACCOUNT))
        return fetch_one(asked[-1], "SELECT 1")

    assert again_while_moving(ask, is_read) == (1,)
    assert (asked[0], asked[-1]) == (SHARD, OTHER)


def test_a_write_with_an_old_map_does_nothing(moved, services):
    """The statement after the refusal must not run."""
    with pytest.raises(AccountMoving):
        execute(SHARD, "UPDATE sharding_databaseidentity SET map_epoch = 99")
    with psycopg.connect(services.postgres[SHARD].url) as direct:
        rows = direct.execute("SELECT map_epoch FROM sharding_databaseidentity").fetchall()
    assert rows == [(7,)]


def test_a_pool_that_leads_to_another_database_is_noticed(pooled, services):
    """Its configuration may change while clients stay connected."""
    fetch_one(SHARD, "SELECT 1")
    name = "UPDATE sharding_databaseidentity SET alias = %s"
    try:
        with psycopg.connect(services.postgres[SHARD].url) as direct:
            direct.execute(name, (OTHER,))
        with pytest.raises(AccountMoving):
            fetch_one(SHARD, "SELECT 1")
        with pytest.raises(WrongDatabase, match=f"it leads to the database {OTHER}"):
            fetch_one(SHARD, "SELECT 1")
    finally:
        with psycopg.connect(services.postgres[SHARD].url) as direct:
            direct.execute(name, (SHARD,))


def test_a_server_restarts_below_its_pool(pooled, services):
    fetch_one(SHARD, "SELECT 1")
    kill(services.postgres[SHARD])
    with pytest.raises(OperationalError):
        fetch_one(SHARD, "SELECT 1")
    services.postgres[SHARD].start()
    until(lambda: _is_answering(SHARD))
    assert [fetch_one(SHARD, "SELECT 1") for _ in range(3)] == [(1,)] * 3


def test_a_paused_pool_answers_later(pooled):
    fetch_one(SHARD, "SELECT 1")
    ask_pgbouncer(pooled, f"PAUSE {SHARD}")
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(_ask_and_close, SHARD)
        until(lambda: _waiting(pooled, SHARD) == 1)
        ask_pgbouncer(pooled, f"RESUME {SHARD}")
        assert asked.result() == (1,)


def _ask_and_close(alias):
    try:
        return fetch_one(alias, "SELECT 1")
    finally:
        connections.close_all()


def _is_answering(alias):
    try:
        return fetch_one(alias, "SELECT 1") == (1,)
    except OperationalError:
        return False


def _waiting(environment, alias):
    """Clients of the pool that wait for a session."""
    return sum(row[3] for row in ask_pgbouncer(environment, "SHOW POOLS") if row[0] == alias)


def test_a_map_check_costs_no_round_trip(pooled):
    fetch_one(SHARD, "SELECT 1")
    before = int(asked_of(pooled, SHARD))
    for _ in range(10):
        fetch_one(SHARD, "SELECT 1")
    # PgBouncer counts a question of its own now and then. A round trip more would be 20.
    assert 10 <= int(asked_of(pooled, SHARD)) - before < 15


def asked_of(environment, alias):
    """Transactions that the pool of this database has served."""
    rows = ask_pgbouncer(environment, "SHOW TOTALS") and ask_pgbouncer(environment, "SHOW STATS")
    return next(row[2] for row in rows if row[0] == alias)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"mode": "session"}, "the pooled URL of default needs PgBouncer 1.22"),
        ({"names": 0}, "the pooled URL of default needs PgBouncer 1.22"),
    ],
)
def test_a_pool_without_names_is_refused(pgbouncer, services, monkeypatch, options, why):
    """As PgBouncer 1.18 is: Debian 12 has it."""
    with running_pgbouncer(pgbouncer, services, **options) as environment, using_pools(environment):
        with pytest.raises(PoolUnfit, match=why):
            fetch_one("default", "SELECT 1")
        monkeypatch.setattr(readiness, "_ready", set())
        with pytest.raises(WrongDatabase, match=why):  # ends a web server that starts
            readiness.refuse_wrong_databases()


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("ALTER ROLE {} RESET jit", "ALTER ROLE tideline_web SET jit = off"),
        ("ALTER ROLE {} SET statement_timeout = 0", "SET statement_timeout = "),
        ("REVOKE pg_read_all_stats FROM {}", "GRANT pg_read_all_stats TO tideline_web"),
        ("ALTER ROLE {} SET timezone = 'Europe/Rome'", "SET timezone = 'UTC'"),
    ],
)
def test_a_role_without_its_parameters_is_refused(pooled, services, lost, said):
    with psycopg.connect(services.postgres[SHARD].url, autocommit=True) as direct:
        direct.execute(lost.format(ROLE))
    ask_pgbouncer(pooled, "RECONNECT")
    with pytest.raises(PoolUnfit, match=f"the role of the pool of {SHARD} lacks: .*{said}"):
        fetch_one(SHARD, "SELECT 1")
