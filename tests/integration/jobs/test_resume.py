"""--resume: where a run was cut short is kept per job and choice of flags, until one ends."""

import os
import signal

import pytest

from infra.jobs.flags import WALK
from infra.jobs.models import JobCheckpoint
from infra.jobs.types import Batch
from tests.integration.jobs.outcomes import Outcome, StepsJob

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
