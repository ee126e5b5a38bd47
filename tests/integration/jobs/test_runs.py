"""JobRun rows and the locks of a run: one copy at a time, and one that died is known to have."""

import os
import socket
import threading
from functools import partial

import pytest
from django.core.management import CommandError
from django.db import connections

from infra.jobs.errors import AlreadyRunning, RunLost
from infra.jobs.flags import WALK
from infra.jobs.models import JobCheckpoint, JobRun
from infra.jobs.runs import KEEP_DAYS, mark_died_runs, recorded_run
from infra.jobs.types import Batch, Tally
from infra.sharding.sql import execute, fetch_one
from tests.integration.jobs.outcomes import Outcome, StepsJob
from tests.races import failures, run_together
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("world")
JOB = __name__.rpartition(".")[2]
State = JobRun.State
# Of this test's database alone: the server's others belong to other tests.
END_SESSION = """
SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database
WHERE locktype = 'advisory' AND datname = current_database()
"""


class WalkJob(StepsJob):
    flags = WALK

    def add_job_arguments(self, parser):
        parser.add_argument("--kind")
        parser.add_argument("--password")
        parser.add_argument("--repair", action="store_true")


def run(parts=("",), job="tidy", flags=""):
    return recorded_run(job, parts, flags, dry_run=False)


def hold(parts, held, leave):
    with run(parts) as mine:
        held.set()
        leave.wait(PATIENCE_S)
        mine.finish(State.DONE)
    connections.close_all()


@pytest.fixture
def held():
    """Another copy holds tidy's shard0 and shard1 for the length of the test."""
    taken, leave = threading.Event(), threading.Event()
    holder = threading.Thread(target=hold, args=(["shard0", "shard1"], taken, leave))
    holder.start()
    assert taken.wait(PATIENCE_S)
    yield
    leave.set()
    holder.join()


def test_a_session_that_only_holds_locks_is_not_ended_for_that():
    with recorded_run(JOB, ["shard3"], "shard=shard3", False) as run:
        shown = run._session.execute("SHOW idle_session_timeout").fetchone()  # type: ignore[attr-defined]
    assert shown == ("0",)


def test_row_says_what_ran_and_how_it_ended():
    words = ["--kind", "x", "--limit", "9", "--shard", "shard1", "--dry-run", "--password", "pw"]
    Outcome(WalkJob(Batch(3, 1, changed=2), Batch(2, changed=0)), *words)
    row = JobRun.objects.get()
    assert (row.job, row.flags, row.dry_run) == (JOB, "kind=x limit=9 shard=shard1", True)
    assert (row.state, row.done, row.failed, row.changed) == (State.FAILED, 5, 1, 2)
    assert (row.host, row.pid, row.error) == (socket.gethostname(), os.getpid(), "")
    assert row.started_at < row.reported_at <= row.finished_at


def test_counts_are_there_while_it_runs():
    def look(_job):
        row = JobRun.objects.get()
        assert (row.state, row.done, row.finished_at) == (State.RUNNING, 3, None)
        assert mark_died_runs() == 0

    assert Outcome(StepsJob(Batch(3), look)).code == 0
    assert JobRun.objects.get().state == State.DONE


@pytest.mark.parametrize("text", ["broken", "NUL \0 and \udc80", "long " * 1_000])
def test_error_that_ended_it_is_kept(text):
    def fail(_job):
        raise LookupError(text)

    with pytest.raises(LookupError):
        Outcome(StepsJob(Batch(2), fail))
    row = JobRun.objects.get()
    assert (row.state, row.done) == (State.FAILED, 2)
    assert row.error.startswith("LookupError: ")
    assert row.finished_at is not None


def test_second_copy_is_told_what_runs_since_when(held):
    row = JobRun.objects.get()
    with pytest.raises(AlreadyRunning) as refusal, run(["shard1"]):
        raise AssertionError("ran")
    assert refusal.value.returncode == 2
    since = f"since {row.started_at:%Y-%m-%d %H:%M:%S} UTC"
    who = f"run {row.id}, process {os.getpid()} on {socket.gethostname()}, {since}"
    assert str(refusal.value) == f"tidy (shard1) runs already: {who}"
    assert JobRun.objects.count() == 1


def test_other_parts_and_other_jobs_run_beside_it(held):
    with run(["shard2", "shard3"]), run(["account 5"]), run(["shard0"], job="sweep"):
        assert JobRun.objects.filter(state=State.RUNNING).count() == 4


def test_command_refused_does_nothing():
    job = WalkJob(Batch(1))
    with recorded_run(JOB, ["shard3"], "shard=shard3", False):
        with pytest.raises(CommandError, match=r"\(shard3\) runs already: run \d+ shard=shard3,"):
            Outcome(job)
        assert Outcome(job, "--shard", "shard0").code == 0
        assert Outcome(job, "--account", "3").code == 0, "one account is not kept waiting"
    assert len(job.taken) == 2
    assert Outcome(job).code == 0, "and the locks are free again"


def test_of_copies_that_start_together_one_runs():
    inside, most = [], []

    def attempt(parts):
        with run(parts) as mine:
            inside.append(1)
            most.append(len(inside))
            threading.Event().wait(1.5)  # longer than the others wait
            inside.pop()
            mine.finish(State.DONE)

    answers = run_together([partial(attempt, ["shard0", "shard1"])] * 4)
    assert [type(failure) for failure in failures(answers)] == [AlreadyRunning] * 3
    assert most == [1]
    assert [row.state for row in JobRun.objects.all()] == [State.DONE]


def test_run_whose_lock_is_free_died():
    with pytest.raises(RunLost), run() as mine:
        mine.report(Tally(done=5))
        execute("default", END_SESSION)
        mine.report(Tally(done=6))
    row = JobRun.objects.get()
    assert (row.state, row.done) == (State.RUNNING, 5), "it could not say so itself"
    with run(job="another") as another:
        row.refresh_from_db()
        assert (row.state, row.finished_at) == (State.DIED, row.reported_at)
        assert JobRun.objects.get(job="another").state == State.RUNNING
        another.finish(State.DONE)
    assert mark_died_runs() == 0


def test_run_that_lost_its_locks_stops_after_the_batch_and_leaves_the_checkpoint():
    def lose(_job):
        execute("default", END_SESSION)
        return Batch(1, position=2)

    job = WalkJob(Batch(1, position=1), lose, Batch(1, position=3))
    with pytest.raises(RunLost):
        Outcome(job)
    assert len(job.taken) == 2
    assert job.closed
    assert JobCheckpoint.objects.get().position == {"position": 1, "rows": 1}


def test_locks_are_free_when_the_block_is_left():
    for _ in range(2):
        with run(["shard0"]) as mine:
            mine.finish(State.DONE)
    assert [row.state for row in JobRun.objects.all()] == [State.DONE] * 2


def test_old_rows_are_deleted():
    with run() as mine:
        mine.finish(State.DONE)
    JobRun.objects.update(started_at=days_ago(KEEP_DAYS + 1))
    with run():
        assert JobRun.objects.get().state == State.RUNNING


def days_ago(days):
    return fetch_one("default", "SELECT now() - %s * interval '1 day'", (days,))[0]
