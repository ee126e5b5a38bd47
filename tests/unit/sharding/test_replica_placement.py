"""Where a replica is: beside its shard, and in no list of databases that are worked on."""

from types import SimpleNamespace

import pytest

from accounts.models import Account
from infra.sharding.errors import ReplicaIsReadOnly, WrongPlacement
from infra.sharding.identity import setting_of
from infra.sharding.placement import shard_behind
from infra.sharding.replicas import is_replica_used, read_replica_or_shard, try_replica
from infra.sharding.router import PlacementRouter
from infra.sharding.shards import all_aliases
from infra.sharding.table_guard import guard_statement, refuse_writes

ROUTER = PlacementRouter()


@pytest.fixture
def replicated(settings):
    settings.REPLICA_ALIASES = {"shard1": ["shard1_replica0", "shard1_replica1"]}


def send(wrapper, sql, alias="shard1_replica1"):
    return wrapper(lambda *_: "sent", sql, (), False, {"connection": SimpleNamespace(alias=alias)})


def test_replica_is_no_database_of_its_own(replicated):
    assert "shard1_replica1" not in all_aliases()
    assert shard_behind("shard1_replica1") == "shard1"
    assert shard_behind("shard1") is None


def test_errors_name_the_url_of_a_replica(replicated):
    assert setting_of("shard1_replica1") == "SHARD_REPLICA_URLS[1][1]"
    assert setting_of("shard1") == "SHARD_DATABASE_URLS[1]"
    assert setting_of("default") == "DATABASE_URL"


def test_nothing_is_migrated_there(replicated):
    assert not ROUTER.allow_migrate("shard1_replica1", "accounts", "account")
    assert not ROUTER.allow_migrate("shard1_replica1", "changes")
    assert not ROUTER.allow_migrate("shard1_replica1", "accounts", placement="everywhere")


def test_row_that_was_read_there_is_not_saved(replicated):
    row = Account(id=1)
    row._state.db = "shard1_replica1"
    assert ROUTER.db_for_read(Account, instance=row) == "shard1_replica1"
    with pytest.raises(ReplicaIsReadOnly):
        ROUTER.db_for_write(Account, instance=row)


def test_it_has_the_tables_of_its_shard(replicated):
    assert send(guard_statement, "SELECT 1 FROM accounts_account") == "sent"
    with pytest.raises(WrongPlacement):
        send(guard_statement, "SELECT 1 FROM accounts_user")


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "\n select 1", "WITH x AS (SELECT 1) SELECT * FROM x", "EXPLAIN SELECT 1"]
)
def test_reads_pass(sql):
    assert send(refuse_writes, sql) == "sent"


@pytest.mark.parametrize(
    "sql", ["INSERT INTO x VALUES (1)", "\n update x SET a = 1", "SET ROLE other", "SELECTED", ""]
)
def test_what_is_no_read_is_refused(sql):
    with pytest.raises(ReplicaIsReadOnly):
        send(refuse_writes, sql)


def test_without_a_replica_only_the_shard_is_read():
    assert try_replica("shard1", lambda _: pytest.fail("asked")) is None
    assert not is_replica_used("shard1")
    assert read_replica_or_shard("shard1", lambda alias: alias) == "shard1"
