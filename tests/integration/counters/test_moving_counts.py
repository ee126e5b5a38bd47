"""Counts move with the rows they count: folded, never below zero, and nobody waits in a circle.

Many changes of one count are one write of its row for each batch that is drained (seed S0).

A count that changes gets its next version in the same page, so that no index is written.
"""

import random
import time
from functools import partial

import pytest
from django.db import IntegrityError, transaction

from counters.actions.move_counts import MOVE, CountBelowZero, move_counts
from counters.kinds import ACCOUNT_KINDS, CounterKind
from counters.queries.counts import load_counts, read_counts, summarise
from counters.types import ACCOUNT, AccountCounts, Count, CountMove
from infra.changes.compensate import drain
from infra.changes.errors import NotInTransaction
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from tests.budgets import count_calls
from tests.plans import nodes_of, rows_handled
from tests.races import failures, run_together
from tests.scenarios.crowd import follow_together, lay_crowd
from tests.world import make_account

FOLLOWERS, FOLLOWING, POSTS, *_ = ACCOUNT_KINDS
ANN, BOB = 8, 12  # on one shard


def moved(*moves: CountMove):
    alias = shard_of(moves[0].owner_id)
    with transaction.atomic(using=alias):
        return move_counts(alias, moves)


def count_of(owner_id: int, kind: CounterKind = FOLLOWERS) -> Count:
    return load_counts([owner_id])[owner_id][kind]


def rows(owner_id: int):
    sql = "SELECT subject, kind, value, version FROM counters_counter WHERE owner_id = %s"
    return sorted(fetch_all(shard_of(owner_id), sql, (owner_id,)))


def test_first_move_makes_the_count(world):
    assert moved(CountMove(ANN, FOLLOWERS, 3)) == {(ANN, ACCOUNT, FOLLOWERS): Count(3, 1)}
    assert count_of(ANN) == Count(3, 1)
    assert count_of(ANN, POSTS) == Count(0, 0)


def test_moves_of_one_count_fold_into_one(world):
    with count_calls() as calls:
        moved(
            CountMove(ANN, FOLLOWERS, 2),
            CountMove(BOB, FOLLOWERS, 1),
            CountMove(ANN, FOLLOWERS, -1),
        )
    assert calls.sql.total() == 1
    assert (count_of(ANN), count_of(BOB)) == (Count(1, 1), Count(1, 1))


def test_move_by_zero_is_a_new_version(world):
    moved(CountMove(ANN, FOLLOWERS, 0))
    assert count_of(ANN) == Count(0, 1)
    moved(CountMove(ANN, FOLLOWERS, 5))
    moved(CountMove(ANN, FOLLOWERS, 1), CountMove(ANN, FOLLOWERS, -1))
    assert count_of(ANN) == Count(5, 3)


def test_kinds_and_subjects_are_counted_apart(world):
    moved(
        CountMove(ANN, POSTS, 1), CountMove(ANN, FOLLOWING, 2), CountMove(ANN, POSTS, 7, subject=99)
    )
    assert rows(ANN) == [(0, FOLLOWING, 2, 1), (0, POSTS, 1, 1), (99, POSTS, 7, 1)]
    assert load_counts([ANN], (FOLLOWERS, FOLLOWING, POSTS))[ANN] == {
        FOLLOWERS: Count(0, 0), FOLLOWING: Count(2, 1), POSTS: Count(1, 1),
    }  # fmt: skip


def test_nothing_to_move_asks_nothing(world):
    alias = shard_of(ANN)  # which a process asks once
    with count_calls() as calls, transaction.atomic(using=alias):
        assert move_counts(alias, []) == {}
    assert calls.sql.total() == 0


def test_counts_move_in_a_transaction_only(world):
    with pytest.raises(NotInTransaction):
        move_counts(shard_of(ANN), [CountMove(ANN, FOLLOWERS, 1)])
    assert rows(ANN) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_count_stays_where_the_transaction_fails(world, error):
    alias = shard_of(ANN)
    with pytest.raises(error), transaction.atomic(using=alias):
        move_counts(alias, [CountMove(ANN, FOLLOWERS, 1)])
        raise error
    assert rows(ANN) == []


def test_count_never_goes_below_zero(world):
    moved(CountMove(ANN, FOLLOWERS, 2))
    moved(CountMove(ANN, FOLLOWERS, -2))
    with pytest.raises(IntegrityError):
        moved(CountMove(ANN, FOLLOWERS, -1))
    assert count_of(ANN) == Count(0, 2)


def test_count_that_is_not_there_cannot_be_lowered(world):
    with pytest.raises(CountBelowZero):
        moved(CountMove(BOB, FOLLOWERS, 1), CountMove(ANN, FOLLOWERS, -1))
    assert rows(ANN) == rows(BOB) == []


def test_gains_and_losses_of_old_and_new_counts_in_one_statement(world):
    moved(CountMove(ANN, FOLLOWERS, 5), CountMove(ANN, POSTS, 3))
    moved(CountMove(ANN, FOLLOWERS, -2), CountMove(ANN, POSTS, 4), CountMove(BOB, POSTS, 1))
    assert rows(ANN) == [(0, FOLLOWERS, 3, 2), (0, POSTS, 7, 2)]
    assert rows(BOB) == [(0, POSTS, 1, 1)]


def test_moving_ten_thousand_counts_takes_no_square_of_the_time(world):
    started_s = time.thread_time()
    with count_calls() as calls:
        moved(*(CountMove(ANN + 4 * n, FOLLOWERS, 1) for n in range(10_000)))
    # Our own part, in time of the processor: others on the machine have none in it.
    assert time.thread_time() - started_s < 2
    [statement] = [one for one in calls.statements if one.sql == MOVE]
    assert max(map(rows_handled, nodes_of(statement))) <= 10_000


def test_many_counts_in_different_orders_by_many_at_once(world):
    """Without one order of locks PostgreSQL would end some of them as a deadlock."""
    owners = [ANN + 4 * n for n in range(30)]

    def move_all(seed: int) -> None:
        for _ in range(10):
            shuffled = random.Random(seed).sample(owners, len(owners))
            moved(*(CountMove(owner, FOLLOWERS, 1) for owner in shuffled))

    assert failures(run_together(partial(move_all, seed) for seed in range(8))) == []
    assert {count_of(owner) for owner in owners} == {Count(80, 80)}


def test_ups_and_downs_at_once_end_where_they_began(world):
    moved(CountMove(ANN, FOLLOWERS, 100))

    def wobble() -> None:
        for delta in (1, -1) * 10:
            moved(CountMove(ANN, FOLLOWERS, delta))

    assert failures(run_together([wobble] * 8)) == []
    assert count_of(ANN) == Count(100, 1 + 160)


def test_counts_of_many_accounts_are_one_query_a_shard(world):
    owners = list(range(1, 101))
    for owner in owners[:8]:
        moved(CountMove(owner, POSTS, owner))
    with count_calls() as calls:
        found = load_counts(owners)
    assert set(calls.sql.values()) == {1}
    assert [found[owner][POSTS].value for owner in owners] == [1, 2, 3, 4, 5, 6, 7, 8] + [0] * 92
    assert summarise(found[8]) == AccountCounts(0, 0, 8, 0, 0, 0)


def test_only_the_kinds_asked_for_are_read(world):
    moved(CountMove(ANN, POSTS, 1), CountMove(ANN, FOLLOWERS, 1))
    assert read_counts(shard_of(ANN), [ANN], [POSTS]) == {ANN: {POSTS: Count(1, 1)}}


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


# As many pages full of counts as a community has after a while.
FILL = """
INSERT INTO counters_counter (owner_id, subject, kind, value, version)
SELECT owner_id, 0, 1, 1, 1 FROM generate_series(1, 5000) AS owner_id
"""
MOVE_ONE = "SELECT counters_move(owner_id, 0, 1, 1) FROM generate_series(1, 5000, 25) AS owner_id"
# Also of earlier transactions that the session has not reported yet.
UPDATES = """
SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'counters_counter'
"""


def test_moves_of_counts_in_full_pages_write_no_index(world: None) -> None:
    execute("shard0", "TRUNCATE counters_counter")
    with transaction.atomic("shard0"):
        execute("shard0", FILL)
        before = fetch_one("shard0", UPDATES) or (0, 0)
        execute("shard0", MOVE_ONE)
        after = fetch_one("shard0", UPDATES) or (0, 0)
        assert (after[0] - before[0], after[1] - before[1]) == (200, 200)
