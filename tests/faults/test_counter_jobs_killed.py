"""recount_counters killed with -9 in the middle of its work; the next run goes on."""

import pytest

from counters.cache import account_counts, refresh_account_counts
from counters.kinds import CounterKind
from counters.management.commands.audit_counters import Command as Audit
from counters.management.commands.recount_counters import Command as Recount
from tests.faults.dying_job import kill_at
from tests.integration.counters.drifting import spoil
from tests.integration.jobs.outcomes import Outcome
from tests.people import ring
from tests.world import drain_all

PEOPLE = 16


people = ring(PEOPLE)


@pytest.fixture
def counted_twice(people):
    """Everybody's followers are counted twice, in Redis too."""
    for person in people:
        spoil(person, CounterKind.FOLLOWERS, +1)
    refresh_account_counts(people)
    return people


@pytest.mark.parametrize("place", ["counters.drift_found", "counters.repaired"])
def test_killed_in_a_transaction_and_resumed_it_ends_the_same(counted_twice, place):
    kill_at(place, 6, "recount_counters", "--batch-size", "2")
    wrong = Outcome(Audit()).out.count("FOLLOWERS: 2 -> 1")
    assert wrong == PEOPLE - 5, "what was mended stays so, and what was not is whole"
    assert Outcome(Recount(), "--resume").code == 0
    assert Outcome(Audit()).code == 0
    drain_all()
    assert set(account_counts.load_many(counted_twice).values()) == {b"1,1,0,0,0,0"}
