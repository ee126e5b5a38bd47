"""A shard hangs: each command works on the other databases, names the shard and ends with 1."""

import json
import subprocess
import sys

import pytest
from django.conf import settings

from infra.jobs.flags import JobFlag
from infra.jobs.models import JobRun
from tests.faults.hung_world import environment_of
from tests.integration.config.commands import WORDS, list_commands, list_jobs
from tests.integration.jobs.outcomes import Outcome
from tests.server_faults import hanging
from tests.world import drain_all, make_accounts, publish

HUNG = "shard1"
# They need all shards together.
TOGETHER = {"backfill_recent_posts", "audit_recent_posts", "reconcile_shard"}
JOBS = [
    found for found in list_jobs() if JobFlag.SHARD in found.flags and found.name not in TOGETHER
]


@pytest.fixture
def hung(services):
    """Accounts on all shards, with rows for each job. No edge crosses shards."""
    for person in make_accounts(8):
        publish(person)
    drain_all()
    with hanging(services.postgres[HUNG]):
        yield


def test_each_job_leaves_it_out_and_goes_on(hung):
    outcomes = {}
    for found in JOBS:
        outcome = Outcome(found.make(), *found.words, "--json")
        left_out = [*json.loads(outcome.out)["left_out"]]
        said = outcome.job.stderr._out.getvalue()
        is_said = f"run {found.name} again with --shard {HUNG}." in said
        outcomes[found.name] = (outcome.code, left_out, is_said)
    expected = (1, [HUNG], True)
    assert {name: one for name, one in outcomes.items() if one != expected} == {}
    assert {run.state for run in JobRun.objects.all()} == {JobRun.State.FAILED}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("check_shards", f"{HUNG}: unreachable: "),
        ("migrate_shards", f"{HUNG} was left out: "),
        ("show_change_lag", f"{HUNG}: unreachable: "),
        ("show_parked_changes", f"{HUNG}: unreachable: "),
        ("show_shards", f"{HUNG}: unreachable: "),
    ],
)
def test_other_commands_show_the_others(hung, name, said):
    [found] = [one for one in list_commands() if one.name == name]
    outcome = Outcome(found.make())
    everything = outcome.out + outcome.job.stderr._out.getvalue()
    assert (outcome.code, said in everything) == (1, True), everything
    if name != "show_parked_changes":
        assert "\nshard3" in outcome.out


@pytest.mark.parametrize(
    ("alias", "words"),
    [
        ("default", ["audit_counters"]),
        ("default", ["migrate_shards"]),
        (
            "default",
            ["create_account", "ann", "--email", "a@b.example", "--password", "Tide 4 all"],
        ),
        *((HUNG, [name, *WORDS.get(name, ())]) for name in sorted(TOGETHER)),
    ],
)
def test_command_that_cannot_do_without_it_ends_in_one_line(services, alias, words):
    with hanging(services.postgres[alias]):
        ended = subprocess.run(
            [sys.executable, "manage.py", *words],
            env=environment_of(services.environment()),
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 1
    said = ended.stderr.splitlines()[-1]
    assert alias in said or "timeout expired" in said
    assert "Traceback" not in ended.stderr
