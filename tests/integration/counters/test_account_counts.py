"""The cached counts of an account: all three of one moment, and never an older one.

rebuild count-cache: wrong entries are written again, with any version.
"""

import itertools

import pytest
from django.db import transaction

from counters import cache
from counters.actions.move_counts import move_counts
from counters.cache import account_counts, refresh_account_counts
from counters.kinds import ACCOUNT_KINDS, CounterKind
from counters.types import CountMove
from counters.verbs import RebuildCountCache
from infra.caching.client import redis
from infra.caching.values import Versioned
from infra.changes.failpoints import arm, disarm
from infra.sharding.buckets import shard_of
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.cached_values import begin, write_values
from tests.integration.counters.drifting import spoil
from tests.integration.jobs.outcomes import Outcome
from tests.people import ring
from tests.world import drain_all

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


RIGHT = b"1,1,0,0,0,0"


people = ring(6)


@pytest.fixture
def two_cached(people):
    """Counts of the first two are in Redis."""
    redis().call("FLUSHDB")
    assert account_counts.load_many(people[:2]) == dict.fromkeys(people[:2], RIGHT)
    return people


def lay(owner_id: int, version: int, payload: bytes) -> None:
    redis().call("DEL", account_counts.key(owner_id))
    write_values(account_counts, {owner_id: Versioned(version, payload)})


@pytest.mark.parametrize("version", [1, 2, 1_000_000], ids=["behind", "even", "restored shard"])
def test_wrong_entry_is_laid_anew(two_cached, version):
    ann = two_cached[0]
    lay(ann, version, b"9,9,9,9,9,20000")
    key = account_counts.key(ann).decode()
    line = f"{key}: 9,9,9,9,9,20000 -> 1,1,0,0,0,0"
    dry = Outcome(RebuildCountCache(), "--dry-run").out
    assert dry == f"{line}\n6 subjects looked at, 1 would change, 0 failed\n"
    assert account_counts.load_many([ann])[ann] == b"9,9,9,9,9,20000"
    assert Outcome(RebuildCountCache()).out == f"{line}\n6 subjects done, 1 changed, 0 failed\n"
    assert account_counts.load_many([ann])[ann] == RIGHT
    assert Outcome(RebuildCountCache()).out == "6 subjects done, 0 changed, 0 failed\n"


def test_what_is_not_cached_stays_so(two_cached):
    Outcome(RebuildCountCache())
    assert redis().call("EXISTS", *account_counts.keys(two_cached)) == 2


def test_entry_refreshed_meanwhile_is_left_alone(two_cached):
    """Dropped blindly, what the job read before would be laid over it."""
    ann = two_cached[0]
    lay(ann, 1, b"9,9,9,9,9,20000")

    def refresh_meanwhile() -> None:
        disarm("counters.wrong_entries_found")
        follow(two_cached[3], ann)
        drain_all()
        refresh_account_counts([ann])

    arm("counters.wrong_entries_found", refresh_meanwhile)
    Outcome(RebuildCountCache())
    assert account_counts.load_many([ann])[ann] == b"2,1,0,0,0,0"


def test_account_and_pages_are_chosen_as_in_all_jobs(two_cached):
    for person in two_cached[:2]:
        lay(person, 1, b"9,9,9,9,9,20000")
    chosen = Outcome(RebuildCountCache(), "--account", str(two_cached[1])).out
    assert chosen.endswith("1 subjects done, 1 changed, 0 failed\n")
    outs = [Outcome(RebuildCountCache(), "--limit", "4", "--resume").out for _ in range(2)]
    assert outs[0].endswith("4 subjects done, 1 changed, 0 failed\n") or outs[1].endswith(
        "2 subjects done, 1 changed, 0 failed\n"
    )
    assert account_counts.load_many([two_cached[0]])[two_cached[0]] == RIGHT


def test_counts_themselves_are_left_to_the_recount(two_cached):
    """The cache is made equal to the counts, not to the rows they count."""
    ann = two_cached[0]
    spoil(ann, CounterKind.FOLLOWERS, +2)
    Outcome(RebuildCountCache())
    assert account_counts.load_many([ann])[ann] == b"3,1,0,0,0,0"
