"""A dry run cannot write, however it tries."""

import pytest
from django.db import InternalError, connections

from accounts.models import Account, User
from infra.jobs.flags import JobFlag
from infra.jobs.models import JobRun
from infra.jobs.read_only import read_only
from infra.jobs.types import Batch
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_one
from tests.integration.jobs.outcomes import Outcome, StepsJob
from tests.world import make_account

pytestmark = pytest.mark.usefixtures("world")
INSERT = "INSERT INTO changes_change (lane, kind, owner_id, payload) VALUES (0, 'tests.x', 1, '{}')"
SETTING = "SHOW default_transaction_read_only"


def copy(_):
    with connections["shard0"].cursor() as cursor, cursor.copy("COPY accounts_account FROM STDIN"):
        pass


WRITES = {
    "raw": lambda _: execute("shard0", INSERT),
    "orm": lambda id_: Account.objects.on(shard_of(id_)).filter(id=id_).update(username="x"),
    "global": lambda id_: User.objects.filter(id=id_).delete(),
    "copy": copy,
    "lock": lambda id_: fetch_one(
        shard_of(id_), "SELECT 1 FROM accounts_account WHERE id = %s FOR UPDATE", (id_,)
    ),
    "thread": lambda _: scatter({a: lambda a=a: execute(a, INSERT) for a in ("shard0", "shard1")}),
}


def writable():
    return {alias: fetch_one(alias, SETTING)[0] for alias in all_aliases()}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("connected", [True, False])
def test_no_write_gets_through(write, connected):
    account_id = make_account()
    if not connected:
        connections.close_all()
    with pytest.raises(Exception, match="read-only transaction"), read_only():
        write(account_id)
    assert User.objects.get(id=account_id)
    assert set(writable().values()) == {"off"}
    assert execute("shard0", INSERT) == 1


def test_reads_go_on():
    account_id = make_account()
    with read_only():
        assert fetch_one(shard_of(account_id), "SELECT count(*) FROM accounts_account") == (1,)
        assert set(writable().values()) == {"on"}


def test_connection_that_broke_meanwhile_is_no_trouble():
    fetch_one("shard0", "SELECT 1")
    with read_only():
        connections["shard0"].close()
    assert set(writable().values()) == {"off"}


def test_job_that_writes_in_a_dry_run_fails_and_its_run_says_why():
    class Careless(StepsJob):
        flags = frozenset({JobFlag.DRY_RUN})

    def write(_job):
        execute("shard0", INSERT)
        return Batch(1)

    with pytest.raises(InternalError, match="cannot execute INSERT"):
        Outcome(Careless(write), "--dry-run")
    assert fetch_one("shard0", "SELECT count(*) FROM changes_change") == (0,)
    assert "cannot execute INSERT" in JobRun.objects.get().error
    assert Outcome(Careless(write)).code == 0
    assert fetch_one("shard0", "SELECT count(*) FROM changes_change") == (1,)
