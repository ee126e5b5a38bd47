"""What the compensator does now and then: in time, and never at the cost of changes."""

import pytest

from infra.changes import chores
from infra.changes.chores import Chores, chore
from tests.clocks import Clock


@pytest.fixture
def done(monkeypatch):
    """What was done, by a chore of every 10 s and one of every 60 s."""
    monkeypatch.setattr(chores, "_chores", {})
    done = []

    @chore(every_s=10)
    def often(alias):
        done.append(("often", alias))

    @chore(every_s=60)
    def seldom(alias):
        done.append(("seldom", alias))

    return done


def test_chores_are_done_at_once_and_again_when_their_time_has_come(done):
    clock = Clock()
    mine = Chores(clock)
    for _ in range(60):
        mine.do_due(["default", "shard0", "shard1"])
        clock.now += 2
    times = {"often": 12, "seldom": 2}
    assert {act: done.count(act) for act in done} == {
        (name, alias): times[name] for name in times for alias in ("shard0", "shard1")
    }


def test_chore_that_fails_on_a_shard_keeps_no_other_from_its_turn(monkeypatch, done):
    @chore(every_s=1)
    def broken(alias):
        done.append(("broken", alias))
        raise ZeroDivisionError

    chores._chores = {broken: 1.0} | chores._chores
    Chores(Clock()).do_due(["shard0", "shard1"])
    assert [alias for name, alias in done if name == "broken"] == ["shard0", "shard1"]
    assert ("seldom", "shard1") in done
