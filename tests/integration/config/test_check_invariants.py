"""audit invariants: says of each promise whether it holds, all over or in samples."""

import pytest

from counters.kinds import CounterKind
from infra.changes.parking import park
from infra.jobs.models import JobRun
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from operations.verbs.rows import CheckInvariants
from relations.actions.block import block
from relations.actions.follow import follow
from relations.types import Attribute
from tests.integration.changes.kinds import ALIAS, note
from tests.integration.counters.drifting import spoil
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.damage import make_network
from tests.integration.timelines.broken_timelines import lose
from tests.integration.timelines.homes import first_page as home_of
from tests.people import cast
from tests.world import drain_all, publish

people = cast(4, follows=3)


@pytest.fixture
def active(people):
    block(people[3], people[2])
    publish(people[1])
    drain_all()
    return people


def lines(*words):
    outcome = Outcome(CheckInvariants(), *words)
    return outcome.code, outcome.out.splitlines()[:-1]


@pytest.mark.parametrize("words", [(), ("--sample", "50"), ("--share", "0.5")])
def test_all_is_well(active, words):
    assert lines(*words) == (0, [])


def test_change_that_waits_too_long(active):
    note()
    assert lines() == (0, [])
    execute(ALIAS, "UPDATE changes_change SET created_at = now() - interval '2 min'")
    code, [line] = lines()
    assert (code, line[:37]) == (1, f"{ALIAS} lane 1: 1 changes pending, the")
    assert lines("--lag-s", "600") == (0, [])


def test_parked_change_on_any_database(active):
    park("default", note(alias="default"), "wait")
    code, [line] = lines("--shard", "shard1")
    assert (code, line) == (1, "default lane 1: 1 changes parked")


@pytest.mark.parametrize("words", [(), ("--sample", "50")])
def test_edges_and_counts(active, words):
    me, other = active[:2]
    delete = "DELETE FROM relations_backwardedge WHERE followee_id = %s AND follower_id = %s"
    execute(shard_of(other), delete, (other, me))
    spoil(me, CounterKind.FOLLOWING, +1)
    code, found = lines(*words)
    assert code == 1
    assert any(line.startswith(f"edge {me} → {other}: backward edge is missing") for line in found)
    assert f"account {me} FOLLOWING: 4 -> 3" in found


def test_follow_across_a_block(world):
    """I4. The block hid the follow on the followee's side; here it did not."""
    net = make_network()
    assert lines() == (0, [])
    follow(net.eve, net.dan)
    drain_all()
    as_black = "UPDATE relations_forwardedge SET attribute = 3 WHERE follower_id = %s"
    assert Attribute.BLACK == 3
    execute(shard_of(net.dan), f"{as_black} AND followee_id = %s", (net.dan, net.ann))
    code, found = lines()
    assert code == 1
    assert any(f"edge {net.dan} → {net.ann}" in line for line in found)


@pytest.mark.parametrize("words", [(), ("--sample", "50")])
def test_hole_in_a_live_timeline(active, words):
    home_of(active[0])
    post = publish(active[1], "missed")
    drain_all()
    lose(active[0], [post])
    code, [line] = lines(*words)
    assert (code, line) == (1, f"account {active[0]}: 1 missing, 0 orphaned, 0 below the mark")


def test_it_is_a_run_of_its_own(active):
    Outcome(CheckInvariants(), "--account", str(active[0]))
    run = JobRun.objects.latest("id")
    assert (run.job, run.state, run.flags) == (
        "audit invariants",
        "done",
        f"account={active[0]}",
    )
