"""Plans of moves: each step brings both shards nearer to the mean, and no filter is long."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.sharding.bucket_set import BUCKET_COUNT
from operations.moves.balance import TOLERANCE, plan_moves
from operations.moves.loads import ShardLoad, weigh


def dealt(rows, writes=None, empty=0):
    """Shards with the buckets of a new installation, and some without any."""
    full = [
        ShardLoad(f"shard{n}", range(n, BUCKET_COUNT, len(rows)), count, (writes or rows)[n])
        for n, count in enumerate(rows)
    ]
    return [*full, *(ShardLoad(f"shard{len(rows) + n}", [], 0, 0.0) for n in range(empty))]


def weights_after(loads):
    """The weight of each shard after each move of the plan."""
    weights = weigh(loads)
    yield weights
    for move in plan_moves(loads):
        change = {move.source: -move.part, move.target: move.part}
        weights = {alias: weight + change.get(alias, 0.0) for alias, weight in weights.items()}
        yield weights


def test_equal_shards_stay_as_they_are():
    assert plan_moves(dealt([100, 105, 95, 100])) == []
    assert plan_moves(dealt([0, 0, 0, 0])) == []


def test_every_shard_gives_a_new_one_its_part():
    moves = plan_moves(dealt([100] * 4, empty=1))
    assert [(move.source, move.target) for move in moves] == [
        (f"shard{n}", "shard4") for n in (3, 2, 1, 0)
    ]
    moved = sum(move.buckets.size for move in moves)
    assert moved == pytest.approx(BUCKET_COUNT / 5, rel=TOLERANCE)


def test_writes_count_like_rows():
    (move,) = plan_moves(dealt([100, 100], [300.0, 100.0]))
    assert (move.source, move.target) == ("shard0", "shard1")
    assert move.part == pytest.approx(1 / 8, abs=0.02)


def test_a_site_without_rows_is_divided_by_buckets():
    (move,) = plan_moves(
        [ShardLoad("shard0", range(BUCKET_COUNT), 0, 0), ShardLoad("shard1", [], 0, 0)]
    )
    assert move.buckets.size == BUCKET_COUNT / 2


@given(
    st.lists(st.integers(0, 10**6), min_size=2, max_size=4).filter(lambda rows: len(rows) != 3),
    st.integers(0, 3),
)
def test_each_step_improves(rows, empty):
    loads = dealt(rows, empty=empty)
    mean = 1 / len(loads)
    distances = [sum(abs(w - mean) for w in each.values()) for each in weights_after(loads)]
    assert all(later < earlier for earlier, later in pairwise(distances))
    owned = {load.alias: {*load.buckets} for load in loads}
    for move in plan_moves(loads):
        taken = {*move.buckets.buckets()}
        assert taken <= owned[move.source]
        owned[move.source] -= taken
        owned[move.target] |= taken
        assert len(move.buckets.values) <= 512
