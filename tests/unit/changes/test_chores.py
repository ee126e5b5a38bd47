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
    def often(aliases):
        done.append(("often", *aliases))

    @chore(every_s=60)
    def seldom(aliases):
        done.append(("seldom", *aliases))

    return done


def test_chores_are_done_at_once_and_again_when_their_time_has_come(done):
    clock = Clock()
    mine = Chores(clock)
    for _ in range(60):
        mine.do_due(["shard0", "shard1"])
        clock.now += 2
    assert done.count(("often", "shard0", "shard1")) == 12
    assert done.count(("seldom", "shard0", "shard1")) == 2


def test_chore_that_fails_keeps_no_other_from_its_turn(monkeypatch, done):
    clock = Clock()

    @chore(every_s=1)
    def broken(aliases):
        raise ZeroDivisionError

    chores._chores = {broken: 1.0} | chores._chores
    mine = Chores(clock)
    mine.do_due([])
    clock.now += 10
    mine.do_due([])
    assert done.count(("often",)) == 2
