"""Time slices of jobs: each continues where the last one ended, alone, and is recorded."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections

from infra.jobs import time_slices
from infra.jobs.models import JobCheckpoint, JobRun
from infra.jobs.runs import recorded_run
from infra.jobs.time_slices import SlicedJob, run_time_slice
from infra.jobs.types import Batch
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("world")
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
