"""A job on several databases: one that does not answer is left out, and the others are done."""

import json

import pytest
from django.db import OperationalError

from infra.jobs.flags import WALK
from infra.jobs.models import JobCheckpoint, JobRun
from infra.jobs.types import Batch
from tests.integration.jobs.outcomes import Outcome, StepsJob

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
        "outcomes", outcome.job._job
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
