"""A job that is killed with -9, or hangs, in the middle of its walk; the next run goes on."""

import subprocess
import sys

import pytest
from django.conf import settings

from infra.jobs.errors import AlreadyRunning
from infra.jobs.models import JobCheckpoint, JobRun
from infra.jobs.runs import recorded_run
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from tests.faults.dying_job import kill_at, start
from tests.faults.renaming import Command
from tests.integration.jobs.outcomes import Outcome
from tests.other_process import environment_of_this_test
from tests.world import make_accounts

PEOPLE = 24
JOB = ("tests.faults.renaming.Command", "--batch-size", "3")
EVERYTHING = "SELECT id, username, display_name FROM accounts_account"


def wrong_names():
    rows = [row for alias in settings.SHARD_ALIASES for row in fetch_all(alias, EVERYTHING)]
    assert len(rows) == PEOPLE
    return [row for row in rows if row[2] != row[1].upper()]


def last_run():
    return JobRun.objects.latest("id")


@pytest.mark.parametrize("place", ["renaming.rows_read", "renaming.batch_committed", "checkpoint"])
def test_killed_anywhere_and_resumed_it_ends_the_same(world, place):
    make_accounts(PEOPLE)
    kill_at(place, 4, *JOB)
    assert wrong_names()
    kill_at(place, 2, *JOB, "--resume")
    outcome = Outcome(Command(), "--resume")
    assert outcome.code == 0
    assert wrong_names() == []
    states = [*JobRun.objects.order_by("id").values_list("state", flat=True)]
    assert states == ["died", "died", "done"]
    assert last_run().done <= PEOPLE / 2, "it began again"
    assert not JobCheckpoint.objects.exists()


def test_second_run_changes_nothing_and_a_dry_run_says_so_and_writes_nothing(world):
    make_accounts(PEOPLE)
    dry = Outcome(Command(), "--dry-run", "--batch-size", "5")
    assert len(wrong_names()) == PEOPLE
    assert dry.out.endswith(f"{PEOPLE} rows looked at, {PEOPLE} would change, 0 failed\n")
    real = Outcome(Command(), "--batch-size", "5")
    assert real.out.splitlines()[:-1] == dry.out.splitlines()[:-1], "it said what would change"
    assert wrong_names() == []
    assert Outcome(Command()).out == f"{PEOPLE} rows done, 0 changed, 0 failed\n"


def test_copy_that_hangs_keeps_others_out_until_it_is_killed(world):
    make_accounts(PEOPLE)
    with start("SIGSTOP", "renaming.batch_committed", 2, *JOB) as hung:
        hung.wait_until_stopped()
        with pytest.raises(AlreadyRunning, match=f"process {hung.pid} on .*, since 20"):
            Outcome(Command(), "--shard", "shard3")
        assert JobRun.objects.get().state == JobRun.State.RUNNING
        hung.kill()
    assert Outcome(Command(), "--shard", "shard3").code == 0
    assert JobRun.objects.earliest("id").state == JobRun.State.DIED


def test_refused_command_ends_with_2(world):
    """Through manage.py, as systemd or cron would see it."""
    with recorded_run("drain_changes", all_aliases(), "", dry_run=False) as run:
        command = [sys.executable, "manage.py", "drain_changes", "--shard", "shard1"]
        ended = subprocess.run(
            command,
            env=environment_of_this_test(),
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 2
    assert f"AlreadyRunning: drain_changes (shard1) runs already: run {run.id}," in ended.stderr
    assert ended.stdout == ""
