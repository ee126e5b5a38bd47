"""Commands on changes killed with -9 in the middle of their work; the next run goes on."""

import pytest

from infra.changes.drain import drain
from infra.changes.management.commands.discard_changes import Command as Discard
from infra.changes.management.commands.park_changes import Command as Park
from infra.changes.management.commands.resume_changes import Command as Resume
from infra.changes.management.commands.unpark_changes import Command as Unpark
from infra.changes.models import DiscardedChange
from infra.changes.pausing import end_pause, list_pauses, pause_kind
from tests.faults.dying_job import kill_at
from tests.integration.changes.kinds import ALIAS, LANE, column, note, parked, pending
from tests.integration.jobs.outcomes import Outcome

ROWS = 7
KIND = "tests.noted"
CHOICE = ("--kind", KIND, "--batch-size", "2")
WHY = ("--reason", "a test")


@pytest.fixture
def rows(world):
    return note(ROWS)


@pytest.mark.parametrize("place", ["parking.batch_changed", "parking.batch_selected"])
def test_parked_discarded_and_retried_whole(rows, place):
    """Each row is in one place at any time, and a second run does what the first left."""
    kill_at(place, 2, "park_changes", *CHOICE, *WHY)
    done = 4 if place == "parking.batch_changed" else 2
    assert (parked(), pending()) == (rows[:done], rows[done:])
    assert Outcome(Park(), *CHOICE, *WHY).code == 0
    assert parked() == rows
    kill_at(place, 2, "discard_changes", *CHOICE, *WHY, "--limit", "4")
    assert discarded() == rows[:done]
    assert Outcome(Discard(), *CHOICE, *WHY, "--limit", str(5 - done)).code == 0
    assert (discarded(), parked()) == (rows[:5], rows[5:])
    kill_at(place, 1, "unpark_changes", *CHOICE)
    assert Outcome(Unpark(), *CHOICE).code == 0
    assert (pending(), parked(), discarded()) == (rows[5:], [], rows[:5])


def test_resume_killed_between_batches_and_run_again(rows):
    pause_kind(ALIAS, KIND, "a test")
    drain(ALIAS, LANE)
    flags = ("--kind", KIND, "--batch-size", "2")
    kill_at("pausing.rows_resumed", 2, "resume_changes", *flags)
    held = "SELECT id FROM changes_change WHERE lane > 255 ORDER BY id"
    assert column(ALIAS, held) == rows[4:]
    assert [paused.is_ending for paused in list_pauses(ALIAS)] == [True]
    assert Outcome(Resume(), *flags).code == 0
    assert (column(ALIAS, held), list_pauses(ALIAS), pending()) == ([], [], rows)
    assert not end_pause(ALIAS, KIND)


def discarded():
    return [*DiscardedChange.objects.on(ALIAS).order_by("id").values_list("id", flat=True)]
