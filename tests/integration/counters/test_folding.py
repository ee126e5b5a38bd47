"""Many changes of one count are one write of its row for each batch that is drained (seed S0)."""

import pytest

from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from counters.types import Count
from infra.changes.drain import drain
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from tests.budgets import count_calls
from tests.scenarios.crowd import follow_together, lay_crowd
from tests.world import make_account

SHARD, LANE = "shard0", 0


@pytest.mark.parametrize("follows", [1, 200])
def test_follows_of_one_account_in_a_batch_are_one_write_of_its_row(world, follows):
    star = make_account()
    crowd = [one for one in lay_crowd(4_000)[SHARD] if lane_of(one) == LANE]
    follow_together(SHARD, crowd[:follows], star)
    with count_calls() as calls:
        assert drain(SHARD, LANE).delivered == follows
    assert load_counts([star])[star][CounterKind.FOLLOWERS] == Count(follows, 1)
    mirrors = [s for s in calls.statements if "relations_mirror" in s.sql]
    assert [s.alias for s in mirrors] == [shard_of(star)]


def test_more_follows_than_a_batch_holds_are_a_write_a_batch(world, monkeypatch):
    monkeypatch.setattr("infra.changes.lanes.CHANGE_BATCH_SIZE", 40)
    star = make_account()
    crowd = [one for one in lay_crowd(2_400)[SHARD] if lane_of(one) == LANE]
    follow_together(SHARD, crowd[:120], star)
    drain(SHARD, LANE)
    assert load_counts([star])[star][CounterKind.FOLLOWERS] == Count(120, 3)
