"""--resume: where a run was cut short is kept per job and choice of flags, until one ends.

Time slices of jobs: each continues where the last one ended, alone, and is recorded.
"""

import os
import signal
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections

from infra.jobs import time_slices
from infra.jobs.flags import WALK
from infra.jobs.models import JobCheckpoint, JobRun
from infra.jobs.runs import recorded_run
from infra.jobs.time_slices import SlicedJob, run_time_slice
from infra.jobs.types import Batch
from tests.integration.jobs.outcomes import Outcome, StepsJob
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("world")


class Counting(StepsJob):
    """Counts from the position to 10; stops where it is told to."""

    flags = WALK
    stop_at = None

    def add_job_arguments(self, parser):
        parser.add_argument("--kind")
        parser.add_argument("--password")

    def iter_batches(self, work, options):
        self.works.append(work)
        for number in range((work.after or 0) + 1, 11):
            self.taken.append(number)
            if number == self.stop_at:
                os.kill(os.getpid(), signal.SIGINT)
            yield Batch(1, position=number)


def cut_at(number, *words):
    job = Counting()
    job.stop_at = number
    assert Outcome(job, *words).code == 2


def seen(*words):
    job = Counting()
    assert Outcome(job, *words).code == 0
    return job.taken


def positions():
    return [*JobCheckpoint.objects.values_list("scope", "position").order_by("scope")]


def test_goes_on_behind_the_last_batch():
    cut_at(4)
    assert positions() == [("", {"position": 4, "rows": 4})]
    assert seen("--resume") == [5, 6, 7, 8, 9, 10]
    assert positions() == []


def test_without_the_flag_it_begins_again_and_the_old_place_is_gone():
    cut_at(4)
    assert seen() == list(range(1, 11))
    assert seen("--resume") == list(range(1, 11))


def test_limited_runs_go_through_it_in_turn():
    assert seen("--limit", "4", "--resume") == [1, 2, 3, 4]
    assert seen("--limit", "4", "--resume") == [5, 6, 7, 8]
    assert positions() == [("", {"position": 8, "rows": 8})]
    assert seen("--limit", "4", "--resume") == [9, 10]
    assert positions() == []


def test_error_keeps_the_place():
    def fail(_job):
        raise LookupError

    class Failing(StepsJob):
        flags = WALK

    with pytest.raises(LookupError):
        Outcome(Failing(Batch(2, position="b"), fail))
    job = Failing()
    Outcome(job, "--resume")
    assert job.works[0].after == "b"


def test_other_flags_have_another_place():
    cut_at(3, "--shard", "shard1", "--kind", "a")
    cut_at(5, "--shard", "shard1")
    cut_at(6, "--account", "7")
    assert [scope for scope, _ in positions()] == [
        "account=7",
        "kind=a shard=shard1",
        "shard=shard1",
    ]
    assert seen("--resume") == list(range(1, 11))
    assert seen("--resume", "--shard", "shard1", "--kind", "b")[0] == 1
    assert seen("--resume", "--shard", "shard1", "--kind", "a")[0] == 4
    assert seen("--resume", "--account", "7")[0] == 7


def test_pace_may_change_and_secrets_are_not_kept():
    cut_at(3, "--rate", "1000", "--batch-size", "3", "--password", "hush")
    assert positions() == [("", {"position": 3, "rows": 3})]
    assert seen("--resume", "--batch-size", "4") == [4, 5, 6, 7, 8, 9, 10]


def test_dry_run_goes_on_from_the_place_and_leaves_it_there():
    cut_at(4)
    before = positions()
    assert seen("--resume", "--dry-run") == [5, 6, 7, 8, 9, 10]
    cut_at(7, "--dry-run")
    assert seen("--dry-run") == list(range(1, 11))
    assert positions() == before


def test_rows_of_all_runs_are_counted_for_the_bar():
    cut_at(4)
    cut_at(9, "--resume")
    assert positions() == [("", {"position": 9, "rows": 9})]


ALIAS = "shard0"
NOW = datetime.now(UTC)
State = JobRun.State


class Shelf:
    """Numbers that a job takes away, one a batch; those in `stuck` it finds again and again."""

    def __init__(self, *numbers, stuck=()):
        self.numbers, self.stuck = list(numbers), set(stuck)
        self.seen = []
        self.fails_at = None
        self.rounds = SlicedJob("tidy", "", self.batches, batch_size=1)

    def batches(self, work):
        for number in [n for n in self.numbers if n > (work.after or 0)]:
            if not work.dry_run:
                self.take(number)
            yield Batch(1, 0, work.aliases[0], 1, number)

    def take(self, number):
        if number == self.fails_at:
            raise ValueError("no such number")
        self.seen.append(number)
        if number not in self.stuck:
            self.numbers.remove(number)

    def turn(self, now=NOW, clock_s=lambda: 0.0):
        return run_time_slice(self.rounds, ALIAS, now, clock_s)


def ticking(step_s):
    """A clock that goes on by so much each time it is looked at."""
    seconds = iter(range(10**6))
    return lambda: next(seconds) * step_s


def states():
    return list(JobRun.objects.order_by("id").values_list("state", flat=True))


def test_where_there_is_nothing_to_do_there_is_no_run():
    assert Shelf().turn().rows == 0
    assert states() == []


def test_a_round_is_one_run_while_there_is_time():
    shelf = Shelf(1, 2, 3)
    assert shelf.turn().done == 3
    run = JobRun.objects.get()
    assert (run.job, run.flags, run.dry_run) == ("tidy", f"by time slices shard={ALIAS}", False)
    assert (run.state, run.done, run.changed) == (State.DONE, 3, 3)
    assert not JobCheckpoint.objects.exists()


def test_a_turn_ends_in_time_and_the_next_goes_on_behind_it():
    shelf = Shelf(1, 2, 3, stuck=[1, 2, 3])
    assert shelf.turn(clock_s=ticking(time_slices.SLICE_S)).done == 1
    assert shelf.turn(clock_s=ticking(time_slices.SLICE_S)).done == 1
    assert shelf.turn().done == 1
    assert shelf.seen == [1, 2, 3]
    assert states() == [State.STOPPED, State.STOPPED, State.DONE]


def test_what_has_to_stay_is_looked_at_again_only_in_the_next_round():
    shelf = Shelf(1, stuck=[1])
    shelf.turn()
    assert shelf.turn(NOW + timedelta(hours=23)).rows == 0
    assert shelf.turn(NOW + timedelta(hours=25)).done == 1
    assert len(states()) == 2


def test_what_was_done_is_not_counted_as_a_round_of_another_database():
    shelf = Shelf(1, stuck=[1])
    shelf.turn()
    assert run_time_slice(shelf.rounds, "shard1", NOW).done == 1


def test_killed_it_goes_on_behind_the_last_batch():
    shelf = Shelf(1, 2, 3, stuck=[1, 2, 3])
    shelf.fails_at = 2
    with pytest.raises(ValueError, match="no such number"):
        shelf.turn()
    assert [(run.state, run.error) for run in JobRun.objects.all()] == [
        (State.FAILED, "ValueError: no such number")
    ]
    shelf.fails_at = None
    shelf.turn()
    assert shelf.seen == [1, 2, 3]


def test_while_the_command_runs_turns_are_passed_over():
    shelf, held, leave = Shelf(1), threading.Event(), threading.Event()

    def run_command():
        with recorded_run("tidy", [ALIAS], "", dry_run=False) as run:
            held.set()
            leave.wait(PATIENCE_S)
            run.finish(State.DONE)
        connections.close_all()

    command = threading.Thread(target=run_command)
    command.start()
    held.wait(PATIENCE_S)
    assert shelf.turn().rows == 0
    leave.set()
    command.join()
    assert (shelf.seen, len(states())) == ([], 1)
    assert shelf.turn().done == 1
