"""The shell around a job: signals, results, exit codes, limit, pace. Signals are real."""

import json
import os
import signal
import threading
import time

import pytest
from django.core.management import CommandError

from infra.jobs.flags import WALK, JobFlag
from infra.jobs.models import JobRun
from infra.jobs.types import Batch
from infra.sharding.placement import Placement
from tests.integration.jobs.outcomes import Outcome, StepsJob

pytestmark = pytest.mark.usefixtures("world")
# A pause that nobody sits out; half of it is more than a crowded machine needs to end it.
LONG_S = 600
JOB = StepsJob.__module__.rpartition(".")[2]


class WalkJob(StepsJob):
    flags = WALK


def interrupt(_job):
    os.kill(os.getpid(), signal.SIGINT)
    return Batch(1)


def end(_job):
    os.kill(os.getpid(), signal.SIGTERM)
    return Batch(1)


def test_done():
    outcome = Outcome(StepsJob(Batch(3), Batch(4)))
    assert (outcome.code, outcome.out) == (0, "7 rows done, 0 failed\n")


def test_rows_that_failed():
    outcome = Outcome(StepsJob(Batch(3, 1), Batch(1_000, 1)))
    assert (outcome.code, outcome.out) == (1, "1,003 rows done, 2 failed\n")


def test_rows_that_changed():
    batches = Batch(3, changed=0), Batch(4, changed=2)
    assert Outcome(StepsJob(*batches)).out == "7 rows done, 2 changed, 0 failed\n"
    dry = Outcome(WalkJob(*batches), "--dry-run")
    assert dry.out == "7 rows looked at, 2 would change, 0 failed\n"


def test_json():
    outcome = Outcome(StepsJob(Batch(3, 1)), "--json")
    counts = {"done": 3, "changed": None, "failed": 1, "left_out": {}}
    assert json.loads(outcome.out) == {"job": JOB, "dry_run": False, **counts, "exit": 1}


def test_details_are_printed_and_do_not_spoil_json():
    job = StepsJob(Batch(2, details=["account 5: 3 -> 4", "account 6: 1 -> 0"]))
    lines = "account 5: 3 -> 4\naccount 6: 1 -> 0\n"
    assert Outcome(job).out == f"{lines}2 rows done, 0 failed\n"
    assert json.loads(Outcome(job, "--json").out)["done"] == 2
    assert job.stderr._out.getvalue() == lines


@pytest.mark.parametrize("signal_now", [interrupt, end])
def test_first_signal_finishes_the_batch_in_hand(signal_now):
    outcome = Outcome(StepsJob(Batch(1), signal_now, Batch(50)))
    assert outcome.code == 2
    assert outcome.out == "2 rows done, 0 failed\n"
    assert len(outcome.job.taken) == 2
    assert outcome.job.closed


def test_second_signal_leaves_at_once():
    def twice(job):
        interrupt(job)
        interrupt(job)
        raise AssertionError("went on")

    outcome = Outcome(StepsJob(Batch(5), twice, Batch(50)))
    assert (outcome.code, outcome.out) == (2, "5 rows done, 0 failed\n")
    assert JobRun.objects.get().state == JobRun.State.STOPPED


def test_signal_ends_a_pause():
    def pause(job):
        interrupt(job)
        began = time.monotonic()
        assert job.pause(LONG_S) is False
        assert time.monotonic() - began < LONG_S / 2
        return Batch(1)

    assert Outcome(StepsJob(pause, Batch(1))).code == 2


def test_signal_during_a_pause_ends_it():
    def pause(job):
        threading.Timer(0.2, end, args=[job]).start()
        began = time.monotonic()
        assert job.pause(LONG_S) is False
        assert 0.2 <= time.monotonic() - began < LONG_S / 2
        return Batch(1)

    assert Outcome(StepsJob(pause)).code == 2


def test_pause_lasts():
    def pause(job):
        began = time.monotonic()
        assert job.pause(0.25) is True
        assert time.monotonic() - began >= 0.25

    assert Outcome(StepsJob(pause)).code == 0


def test_signal_ends_the_wait_for_the_pace():
    def be_asked_soon(job):
        threading.Timer(0.3, end, args=[job]).start()
        return Batch(LONG_S)

    began = time.monotonic()
    assert Outcome(WalkJob(be_asked_soon, Batch(1)), "--rate", "1").code == 2
    assert time.monotonic() - began < LONG_S / 2


def test_rate_is_held():
    began = time.monotonic()
    assert Outcome(WalkJob(*[Batch(9, failed=1)] * 3), "--rate", "40").code == 1
    assert time.monotonic() - began >= 0.75


def test_limit_ends_it_before_the_next_batch():
    outcome = Outcome(WalkJob(Batch(3), Batch(1, 1), Batch(3)), "--limit", "5")
    assert (outcome.code, outcome.out) == (1, "4 rows done, 1 failed\n")
    assert len(outcome.job.taken) == 2
    assert outcome.job.closed


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    Outcome(StepsJob(interrupt, Batch(1)))
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_error_of_the_job_is_not_swallowed():
    def fail(_job):
        raise LookupError("broken")

    with pytest.raises(LookupError):
        Outcome(StepsJob(Batch(1), fail))


def test_work_is_what_the_flags_say():
    job = WalkJob()
    Outcome(job, "--shard", "shard1", "--limit", "9000", "--rate", "70", "--dry-run")
    Outcome(job, "--account", "6", "--batch-size", "20")
    Outcome(job)
    there, account, everything = job.works
    assert there == (["shard1"], None, 9_000, 70, None, True)
    assert account == (["shard2"], 6, None, 20, None, False)
    assert everything == ([f"shard{n}" for n in range(4)], None, None, 500, None, False)


def test_shard_flag_of_a_job_on_all_databases():
    class Everywhere(StepsJob):
        flags = frozenset({JobFlag.SHARD})
        placement = Placement.EVERYWHERE

    job = Everywhere()
    Outcome(job, "--shard", "default")
    Outcome(job)
    assert job.works[0].aliases == ["default"]
    assert job.works[1].aliases == ["default", "shard0", "shard1", "shard2", "shard3"]


@pytest.mark.parametrize(
    "words",
    [
        ["--shard", "default"],
        ["--shard", "shard99"],
        ["--shard", "shard1", "--account", "5"],
        ["--limit", "0"],
        ["--rate", "-1"],
        ["--batch-size", "1.5"],
        ["--account", "ann"],
        ["--account", str(2**63)],
    ],
)
def test_flags_that_make_no_sense_are_refused(words):
    with pytest.raises(CommandError):
        Outcome(WalkJob(Batch(1)), *words)
    assert not JobRun.objects.exists()


@pytest.mark.parametrize(
    "flag",
    [
        ["--dry-run"],
        ["--shard", "shard0"],
        ["--account", "1"],
        ["--limit", "1"],
        ["--batch-size", "1"],
        ["--rate", "1"],
        ["--resume"],
    ],
)
def test_flag_that_a_job_does_not_declare_is_unknown(flag):
    with pytest.raises(CommandError, match="unrecognized"):
        Outcome(StepsJob(Batch(1)), *flag)
    assert Outcome(WalkJob(Batch(1)), *flag).code == 0
