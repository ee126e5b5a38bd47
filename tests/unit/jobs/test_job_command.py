"""The shell around a job: flags, signals, results, exit codes. Signals are real."""

import json
import os
import signal
import threading
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from infra.jobs.command import Batch, JobCommand, chosen_aliases
from infra.sharding.placement import all_aliases


class Job(JobCommand):
    """Yields what the test says; a callable is called in between."""

    def __init__(self, *steps, **streams):
        super().__init__(**streams)
        self.steps = steps
        self.taken = []

    def iter_batches(self, options):
        for step in self.steps:
            self.taken.append(step)
            if callable(step):
                step = step(self)
            if isinstance(step, Batch):
                yield step


class Outcome:
    def __init__(self, *steps, **options):
        self.job = Job(*steps, stdout=(out := StringIO()), stderr=StringIO())
        try:
            call_command(self.job, **options)
            self.code = 0
        except SystemExit as error:
            self.code = error.code
        self.out = out.getvalue()


def interrupt(_job):
    os.kill(os.getpid(), signal.SIGINT)
    return Batch(1)


def end(_job):
    os.kill(os.getpid(), signal.SIGTERM)
    return Batch(1)


def test_done():
    outcome = Outcome(Batch(3), Batch(4))
    assert (outcome.code, outcome.out) == (0, "7 rows done, 0 failed\n")


def test_rows_that_failed():
    outcome = Outcome(Batch(3, 1), Batch(1_000, 1))
    assert (outcome.code, outcome.out) == (1, "1,003 rows done, 2 failed\n")


def test_json():
    outcome = Outcome(Batch(3, 1), json=True)
    name = Job.__module__.rpartition(".")[2]
    assert json.loads(outcome.out) == {"job": name, "done": 3, "failed": 1, "exit": 1}


@pytest.mark.parametrize("signal_now", [interrupt, end])
def test_first_signal_finishes_the_batch_in_hand(signal_now):
    outcome = Outcome(Batch(1), signal_now, Batch(50))
    assert outcome.code == 2
    assert outcome.out == "2 rows done, 0 failed\n"
    assert len(outcome.job.taken) == 2


def test_second_signal_leaves_at_once():
    def twice(job):
        interrupt(job)
        interrupt(job)
        raise AssertionError("went on")

    outcome = Outcome(Batch(5), twice, Batch(50))
    assert (outcome.code, outcome.out) == (2, "5 rows done, 0 failed\n")


def test_signal_ends_a_pause():
    def pause(job):
        interrupt(job)
        began = time.monotonic()
        assert job.pause(60) is False
        assert time.monotonic() - began < 1
        return Batch(1)

    assert Outcome(pause, Batch(1)).code == 2


def test_signal_during_a_pause_ends_it():
    def pause(job):
        threading.Timer(0.2, end, args=[job]).start()
        began = time.monotonic()
        assert job.pause(60) is False
        assert 0.2 <= time.monotonic() - began < 1
        return Batch(1)

    assert Outcome(pause).code == 2


def test_pause_lasts():
    def pause(job):
        began = time.monotonic()
        assert job.pause(0.25) is True
        assert time.monotonic() - began >= 0.25

    assert Outcome(pause).code == 0


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    Outcome(interrupt, Batch(1))
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_error_of_the_job_is_not_swallowed():
    def fail(_job):
        raise LookupError("broken")

    with pytest.raises(LookupError):
        Outcome(Batch(1), fail)


def test_shard_flag_chooses_one_database():
    assert chosen_aliases({"shard": "shard1"}) == ["shard1"]
    assert chosen_aliases({"shard": None}) == all_aliases()
    parser = Job().create_parser("manage.py", "job")
    assert parser.parse_args(["--shard", "shard1"]).shard == "shard1"
    with pytest.raises(CommandError, match="shard99"):
        parser.parse_args(["--shard", "shard99"])
