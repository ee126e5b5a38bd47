"""The cached counts of an account: all three of one moment, and never an older one."""

import itertools

import pytest
from django.db import transaction

from counters import cache
from counters.actions.move_counts import move_counts
from counters.cache import account_counts, refresh_account_counts
from counters.kinds import ACCOUNT_KINDS
from counters.types import CountMove
from infra.sharding.buckets import shard_of
from tests.budgets import count_calls
from tests.cached_values import begin, write_values

FOLLOWERS, FOLLOWING, POSTS, *_ = ACCOUNT_KINDS
ANN = 8


def moved(kind, delta: int, owner_id: int = ANN) -> None:
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        move_counts(alias, [CountMove(owner_id, kind, delta)])


def shown(owner_id: int = ANN) -> bytes:
    """followers,following,posts"""
    return account_counts.load_many([owner_id])[owner_id]


def test_counts_of_nobody_are_zero_and_cached(world):
    assert shown(77) == b"0,0,0,0,0,0"
    with count_calls() as calls:
        assert shown(77) == b"0,0,0,0,0,0"
    assert (calls.sql.total(), calls.round_trips) == (0, 1)


def test_refreshed_counts_are_read_without_a_query(world):
    assert shown() == b"0,0,0,0,0,0"
    moved(FOLLOWERS, 3)
    moved(FOLLOWING, 2)
    moved(POSTS, 1)
    refresh_account_counts([ANN, ANN])
    with count_calls() as calls:
        assert shown() == b"3,2,1,0,0,0"
    assert calls.sql.total() == 0


def test_many_accounts_are_refreshed_in_a_query_a_shard_and_one_trip(world):
    owners = range(1, 41)
    refresh_account_counts(owners)  # the server knows the script
    with count_calls() as calls:
        refresh_account_counts(owners)
    assert set(calls.sql.values()) == {1}
    assert calls.round_trips == 1


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_readings_that_arrive_in_any_order_leave_the_newest(world, order):
    """Counts of different kinds move apart, up and down; their versions say which came last."""
    readings = []
    for kind, delta in ((FOLLOWERS, 5), (POSTS, 1), (FOLLOWERS, -4), (POSTS, -1)):
        moved(kind, delta)
        readings.append(cache.load_account_entries([ANN])[ANN])
    for place in order:
        write_values(account_counts, {ANN: readings[place]})
    assert shown() == readings[-1].payload == b"1,0,0,0,0,0"


def test_slow_loader_cannot_bring_older_counts_back(world):
    moved(FOLLOWERS, 1)
    tokens, slow = begin(account_counts, ANN), cache.load_account_entries([ANN])
    moved(FOLLOWERS, 1)
    refresh_account_counts([ANN])
    account_counts.write_many(slow, tokens)
    assert shown() == b"2,0,0,0,0,0"
