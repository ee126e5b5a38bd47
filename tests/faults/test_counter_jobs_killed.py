"""recount_counters killed with -9 in the middle of its work; the next run goes on."""

import subprocess
import sys
from signal import SIGKILL

import pytest
from django.conf import settings

from counters.cache import account_counts, refresh_account_counts
from counters.kinds import CounterKind
from counters.management.commands.audit_counters import Command as Audit
from counters.management.commands.recount_counters import Command as Recount
from relations.actions.follow import follow
from tests.integration.counters.drifting import spoil
from tests.integration.jobs.outcomes import Outcome
from tests.other_process import environment_of_this_test
from tests.world import drain_all, make_accounts

# Runs the job; the nth time it comes to the place, it kills itself.
SCRIPT = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from infra.changes.failpoints import arm
place, turn, *words = sys.argv[1:]
turns = iter(range(1, 1_000))
arm(place, lambda: next(turns) == int(turn) and os.kill(os.getpid(), signal.SIGKILL))
call_command("recount_counters", *words)
"""
PEOPLE = 16


@pytest.fixture
def people(world):
    """A ring of follows in which everybody's followers are counted twice, in Redis too."""
    people = make_accounts(PEOPLE)
    for follower, followee in zip(people, people[1:] + people[:1], strict=True):
        follow(follower, followee)
    drain_all()
    for person in people:
        spoil(person, CounterKind.FOLLOWERS, +1)
    refresh_account_counts(people)
    return people


@pytest.mark.parametrize("place", ["counters.drift_found", "counters.mended"])
def test_killed_in_a_transaction_and_resumed_it_ends_the_same(people, place):
    command = [sys.executable, "-c", SCRIPT, place, "6", "--batch-size", "2"]
    environment = environment_of_this_test()
    with subprocess.Popen(command, env=environment, cwd=settings.BASE_DIR) as process:
        assert process.wait(60) == -SIGKILL
    wrong = Outcome(Audit()).out.count("FOLLOWERS: 2 -> 1")
    assert wrong == PEOPLE - 5, "what was mended stays so, and what was not is whole"
    assert Outcome(Recount(), "--resume").code == 0
    assert Outcome(Audit()).code == 0
    drain_all()
    assert set(account_counts.load_many(people).values()) == {b"1,1,0,0,0"}
