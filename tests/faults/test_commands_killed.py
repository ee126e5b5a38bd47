"""Jobs on relations are killed with -9 at any point; the next run has the same result.

rebuild counters killed with -9 in the middle of its work; the next run goes on.

rebuild timelines killed with -9 in the middle of its work; the next run goes on.

Commands on changes killed with -9 in the middle of their work; the next run goes on.
"""

import pytest

from counters.cache import account_counts, refresh_account_counts
from counters.kinds import CounterKind
from counters.verbs import AuditCounters, RecountCounters
from infra.api.pages import Window
from infra.changes.compensate import drain
from infra.changes.models import DiscardedChange
from infra.changes.pausing import end_pause, list_pauses, pause_kind
from infra.changes.verbs.parking import DiscardChanges, ParkChanges, UnparkChanges
from infra.changes.verbs.pausing import ResumeChanges
from infra.jobs.models import JobCheckpoint, JobRun
from posts.actions.delete_post import delete_post
from relations.actions.follow import follow
from relations.queries.edge_lists import FOLLOWERS_LIST, list_page
from relations.types import Attribute
from relations.verbs import AuditEdges, BackfillBackwardEdges, ResetRelations
from tests.faults import dying_job
from tests.faults.dying_job import kill_at
from tests.integration.changes.kinds import ALIAS, LANE, column, note, parked, pending
from tests.integration.counters.drifting import spoil
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.damage import (
    delete_edge,
    forget_derived_side,
    make_network,
    write_backward,
    write_count,
)
from tests.integration.timelines.broken_timelines import lose
from tests.integration.timelines.homes import first_page, read_to_end
from tests.people import ring
from tests.truth import assert_drained_truth, backward_edges, forward_edges
from tests.world import drain_all, make_accounts, publish
from timelines.verbs import AuditTimelines, RebuildTimelines


def kill_on_the_way(place, nth, *words):
    dying_job.kill_at(place, nth, *words)
    assert JobRun.objects.latest("id").state == JobRun.State.RUNNING


def followers(account_id):
    page = list_page(FOLLOWERS_LIST, account_id, Window(9))
    return {listed.account_id for listed in page.items}


def followers_in_rows(account_id):
    edges = forward_edges().items()
    return {
        one
        for (one, other), edge in edges
        if other == account_id and edge.attribute is Attribute.FOLLOW
    }


@pytest.mark.parametrize("place", ["relations.backfilled", "checkpoint"])
def test_backfill(world, place):
    net = make_network()
    forget_derived_side()
    for person in net:
        assert followers(person) == set()
    kill_on_the_way(place, 3, "backfill", "backward-edges", "--batch-size", "2")
    assert backward_edges() != forward_edges()
    outcome = Outcome(BackfillBackwardEdges(), "--resume", "--batch-size", "2")
    assert outcome.code == 0
    assert JobRun.objects.latest("id").done < len(forward_edges()), "it began again"
    assert not JobCheckpoint.objects.exists()
    assert_drained_truth()
    for person in net:
        assert followers(person) == followers_in_rows(person)


@pytest.mark.parametrize("place", ["relations.mirrored_again", "counters.repaired", "checkpoint"])
@pytest.mark.parametrize("words", [["--resume"], []])
def test_repair(world, place, words):
    net = make_network()
    for person in net:
        assert followers(person) == followers_in_rows(person)
    delete_edge("backward", net.ann, net.bob)
    write_backward(net.ann, net.cyd, "revision = 7, attribute = 0")
    write_count(net.dan, CounterKind.FOLLOWERS, 7)
    kill_on_the_way(place, 1, "audit", "edges", "--repair", "--batch-size", "2")
    drain_all()  # as the compensator does; the change of the repair is pending
    assert Outcome(AuditEdges(), "--repair", "--batch-size", "2", *words).code == 0
    drain_all()
    assert Outcome(AuditEdges()).code == 0
    assert_drained_truth()
    for person in net:
        assert followers(person) == followers_in_rows(person)


def test_reset(world):
    net = make_network()
    words = ["--account", str(net.ann), "--yes", "--batch-size", "1"]
    kill_on_the_way("checkpoint", 3, "accounts", "reset-relations", *words)
    assert any(net.ann in p and e.attribute for p, e in forward_edges().items())
    outcome = Outcome(ResetRelations(), "--resume", *words)
    assert outcome.code == 0
    assert JobRun.objects.latest("id").done == 3
    drain_all()
    assert not any(net.ann in p and e.attribute for p, e in forward_edges().items())
    assert_drained_truth()


RING = 16


people = ring(RING)


@pytest.fixture
def counted_twice(people):
    """Everybody's followers are counted twice, in Redis too."""
    for person in people:
        spoil(person, CounterKind.FOLLOWERS, +1)
    refresh_account_counts(people)
    return people


@pytest.mark.parametrize("place", ["counters.drift_found", "counters.repaired"])
def test_killed_in_a_transaction_and_resumed_it_ends_the_same(counted_twice, place):
    kill_at(place, 6, "rebuild", "counters", "--batch-size", "2")
    wrong = Outcome(AuditCounters()).out.count("FOLLOWERS: 2 -> 1")
    assert wrong == RING - 5, "what was mended stays so, and what was not is whole"
    assert Outcome(RecountCounters(), "--resume").code == 0
    assert Outcome(AuditCounters()).code == 0
    drain_all()
    assert set(account_counts.load_many(counted_twice).values()) == {b"1,1,0,0,0,0"}


READERS = 8


@pytest.fixture
def homes(world):
    """Readers of one author; each timeline lacks one entry and has a stale one."""
    author, *readers = make_accounts(READERS + 1)
    for reader in readers:
        follow(reader, author)
    drain_all()
    for reader in readers:
        first_page(reader)
    posts = [publish(author) for _ in range(4)]
    delete_post(posts[0])
    drain_all()
    for reader in readers:
        lose(reader, posts[1:2])
    return readers, [post.public for post in reversed(posts[1:])]


def test_killed_between_two_steps_and_resumed_it_ends_the_same(homes):
    readers, expected = homes
    kill_at("timeline.holes_filled", 4, "rebuild", "timelines", "--all", "--batch-size", "1")
    assert Outcome(AuditTimelines()).out.endswith(f"{READERS - 4} failed\n"), "4 filled, 3 whole"
    assert "5 changed" in Outcome(RebuildTimelines(), "--all", "--resume").out
    assert Outcome(AuditTimelines()).code == 0
    assert [read_to_end(reader) for reader in readers] == [expected] * READERS
    assert "0 changed" in Outcome(RebuildTimelines(), "--all").out


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
    kill_at(place, 2, "changes", "park", *CHOICE, *WHY)
    done = 4 if place == "parking.batch_changed" else 2
    assert (parked(), pending()) == (rows[:done], rows[done:])
    assert Outcome(ParkChanges(), *CHOICE, *WHY).code == 0
    assert parked() == rows
    kill_at(place, 2, "changes", "discard", *CHOICE, *WHY, "--limit", "4")
    assert discarded() == rows[:done]
    assert Outcome(DiscardChanges(), *CHOICE, *WHY, "--limit", str(5 - done)).code == 0
    assert (discarded(), parked()) == (rows[:5], rows[5:])
    kill_at(place, 1, "changes", "unpark", *CHOICE)
    assert Outcome(UnparkChanges(), *CHOICE).code == 0
    assert (pending(), parked(), discarded()) == (rows[5:], [], rows[:5])


def test_resume_killed_between_batches_and_run_again(rows):
    pause_kind(ALIAS, KIND, "a test")
    drain(ALIAS, LANE)
    flags = ("--kind", KIND, "--batch-size", "2")
    kill_at("pausing.rows_resumed", 2, "changes", "resume", *flags)
    held = "SELECT id FROM changes_change WHERE lane > 255 ORDER BY id"
    assert column(ALIAS, held) == rows[4:]
    assert [paused.is_ending for paused in list_pauses(ALIAS)] == [True]
    assert Outcome(ResumeChanges(), *flags).code == 0
    assert (column(ALIAS, held), list_pauses(ALIAS), pending()) == ([], [], rows)
    assert not end_pause(ALIAS, KIND)


def discarded():
    return [*DiscardedChange.objects.on(ALIAS).order_by("id").values_list("id", flat=True)]
