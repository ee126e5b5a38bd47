"""A job on several databases: one that does not answer is left out, and the others are done.

A dry run cannot write, however it tries.
"""

import json

import pytest
from django.db import InternalError, OperationalError, connections

from accounts.models import Account, User
from infra.jobs.command import read_only
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.models import JobCheckpoint, JobRun
from infra.jobs.types import Batch
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_one
from tests.integration.jobs.outcomes import Outcome, StepsJob
from tests.world import make_account

pytestmark = pytest.mark.usefixtures("world")


class Walking(StepsJob):
    """Three rows a database, in batches of one. `hung` answers for one batch."""

    flags = WALK
    hung = None

    def is_by_database(self, options):
        return True

    def count_total(self, work, options):
        if self.hung:
            raise OperationalError("shard1 does not answer")
        return 12

    def iter_batches(self, work, options):
        [alias] = work.aliases
        for number in range((work.after or 0) + 1, 4):
            if number == 2 and alias == self.hung:
                raise OperationalError(f"{alias} does not answer\nmore lines")
            self.taken.append(f"{alias} {number}")
            yield Batch(1, position=number)


def run(*words, hung=None):
    job = Walking()
    job.hung = hung
    return Outcome(job, *words)


def test_others_are_done_and_the_run_fails():
    outcome = run(hung="shard1")
    assert outcome.code == 1
    assert outcome.out == "10 rows done, 0 failed, not all: left out shard1\n"
    assert [one for one in outcome.job.taken if "shard1" in one] == ["shard1 1"]
    said = outcome.job.stderr._out.getvalue()
    again = "When it answers, run outcomes again with --shard shard1."
    assert said == f"shard1 was left out: shard1 does not answer. {again}\n".replace(
        "outcomes", outcome.job.name
    )
    latest = JobRun.objects.get()
    assert (latest.state, latest.error) == (
        JobRun.State.FAILED,
        "shard1 was left out: shard1 does not answer",
    )
    assert run("--shard", "shard1").job.taken == ["shard1 1", "shard1 2", "shard1 3"]


def test_json_names_it():
    answer = json.loads(run("--json", hung="shard2").out)
    assert answer["left_out"] == {"shard2": "shard2 does not answer"}
    assert (answer["done"], answer["exit"]) == (10, 1)


def test_limit_counts_the_rows_of_all_databases():
    assert run("--limit", "4").job.taken == ["shard0 1", "shard0 2", "shard0 3", "shard1 1"]
    assert JobCheckpoint.objects.get().position["position"] == {"database": "shard1", "at": 1}
    assert run("--limit", "4", "--resume").job.taken[:3] == ["shard1 2", "shard1 3", "shard2 1"]


@pytest.mark.parametrize("position", [{"alias": "shard2", "key": [1]}, {"database": "x", "at": 1}])
def test_position_of_an_earlier_release_or_settings_begins_again(position):
    JobCheckpoint.objects.create(
        job=Walking.__module__.rpartition(".")[2], scope="", position={"position": position}
    )
    assert run("--resume").job.taken[0] == "shard0 1"


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
