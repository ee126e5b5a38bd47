"""The derived side of an edge is the same after double, late and concurrent deliveries."""

import itertools
from datetime import UTC, datetime
from functools import partial

import pytest
from django.db import transaction

from counters.cache import account_counts, load_account_entries
from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from counters.types import ACCOUNT, Count
from infra.api.pages import Window
from infra.changes.models import Change
from infra.changes.registry import Delivery
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.follow import follow, unfollow
from relations.actions.mirror import mirror_on_shard, refresh_followers
from relations.changes import EdgeChanged
from relations.consumers import mirror_backward_edges, refresh_following_lists
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from relations.queries.edges import load_forward_edges
from relations.types import Attribute, Edge
from tests.budgets import count_calls
from tests.dying import armed, dying_at
from tests.integration.accounts.test_locks import in_thread
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, backward_edges
from tests.waiting import until
from tests.world import drain_all, make_accounts

# Statements that wait for this transaction.
WAITS = """
SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))
"""


def deliveries_of(account_id: int) -> list[Delivery[EdgeChanged]]:
    rows = Change.objects.on(shard_of(account_id)).filter(owner_id=account_id).order_by("pk")
    return [
        Delivery(row.pk, row.owner_id, row.created_at, EdgeChanged(**row.payload)) for row in rows
    ]


def mirror(account_id: int, deliveries: list[Delivery[EdgeChanged]]) -> None:
    mirror_backward_edges(shard_of(account_id), deliveries)


def follower_count(account_id: int) -> Count:
    return load_counts([account_id])[account_id][CounterKind.FOLLOWERS]


def members(edge_list, account_id: int) -> list[int]:
    return [item.account_id for item in list_page(edge_list, account_id, Window(80)).items]


def test_mirroring_twice_counts_once(world):
    ann, bob = make_accounts(2)
    follow(ann, bob)
    for _ in range(2):
        mirror(ann, deliveries_of(ann))
        assert follower_count(bob) == Count(1, 1)
    assert_drained_truth()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_changes_in_any_order_each_when_it_comes_end_the_same(world, order):
    ann, bob = make_accounts(2)
    follow(ann, bob)
    unfollow(ann, bob)
    follow(ann, bob)
    deliveries = deliveries_of(ann)
    members(FOLLOWING_LIST, ann), members(FOLLOWERS_LIST, bob)
    for place in order:
        mirror(ann, [deliveries[place]])
        refresh_following_lists(shard_of(ann), [deliveries[place]])
    assert_drained_truth()
    assert (members(FOLLOWING_LIST, ann), members(FOLLOWERS_LIST, bob)) == ([bob], [ann])


def test_late_change_of_an_edge_changes_nothing(world):
    ann, bob = make_accounts(2)
    follow(ann, bob)
    late = load_forward_edges(shard_of(ann), [(ann, bob)])
    unfollow(ann, bob)
    mirror(ann, deliveries_of(ann))
    mirrored = mirror_on_shard(shard_of(bob), late)
    assert mirrored[bob].updated == {}
    assert_drained_truth()


def test_equal_revision_of_an_edge_changes_nothing(world):
    """A replay must not overwrite what was repaired by hand at the same revision."""
    ann, bob = make_accounts(2)
    follow(ann, bob, clock_ms=lambda: 5)
    mirror(ann, deliveries_of(ann))
    other = {(ann, bob): Edge(Attribute.NONE, 1, 9)}
    assert mirror_on_shard(shard_of(bob), other)[bob].updated == {}
    assert backward_edges() == {(ann, bob): Edge(Attribute.FOLLOW, 1, 5)}


def test_several_drainers_at_once_count_each_edge_once(world):
    ann, *others = make_accounts(20)
    for other in others:
        follow(ann, other)
    deliveries = deliveries_of(ann)
    backwards = partial(mirror, ann, deliveries[::-1])
    answers = run_together([partial(mirror, ann, deliveries), backwards] * 3)
    assert failures(answers) == []
    assert_drained_truth()
    assert {follower_count(other) for other in others} == {Count(1, 1)}


@pytest.mark.parametrize("is_hot", [False, True])
def test_two_mirrors_cannot_both_find_an_edge_new(world, drain, is_hot):
    """The second one waits for the first. For a hot count it finds no row that it could lock."""
    ann, bob = make_accounts(2)
    follow(ann, bob)
    edges, hot = load_forward_edges(shard_of(ann), [(ann, bob)]), {(bob, ACCOUNT)} if is_hot else ()
    call = partial(mirror_on_shard, shard_of(bob), edges, hot=hot)
    with transaction.atomic(using=shard_of(bob)):
        first, waiting = call(), in_thread(partial(_keep, second := [], call))
        until(lambda: fetch_one(shard_of(bob), WAITS) == (1,))
    waiting.join()
    assert first[bob].updated.keys() == {ann}
    assert not any(followee.updated for followee in second[0].values())
    drain()
    assert follower_count(bob).value == 1
    assert_drained_truth()


def test_counts_for_the_cache_have_the_own_write_of_the_account_that_was_faster(world):
    """Else two transactions would give different counts the same version."""
    ann, bob, eve = make_accounts(3)
    follow(ann, bob)
    edges = load_forward_edges(shard_of(ann), [(ann, bob)])
    account_counts.load_many([bob])
    with transaction.atomic(using=shard_of(bob)):
        follow(bob, eve)
        # Its rows do not wait.
        mirrored = in_new_session(lambda: mirror_on_shard(shard_of(bob), edges))
        assert mirrored[bob].counts is None
        waiting = in_thread(partial(refresh_followers, mirrored))
        until(lambda: fetch_one(shard_of(bob), WAITS) == (1,))
    waiting.join()
    assert account_counts.load_many([bob])[bob] == load_account_entries([bob])[bob].payload


def test_an_own_write_waits_for_a_mirror_that_returns_the_counts(world):
    ann, bob, eve = make_accounts(3)
    follow(ann, bob)
    edges = load_forward_edges(shard_of(ann), [(ann, bob)])
    account_counts.load_many([bob])
    with transaction.atomic(using=shard_of(bob)):
        mirrored = mirror_on_shard(shard_of(bob), edges)
        waiting = in_thread(partial(follow, bob, eve))
        until(lambda: fetch_one(shard_of(bob), WAITS) == (1,))
    waiting.join()
    refresh_followers(mirrored)
    assert account_counts.load_many([bob])[bob] == load_account_entries([bob])[bob].payload


def in_new_session(call):
    answers = []
    in_thread(partial(_keep, answers, call)).join()
    return answers[0]


def _keep(answers, call):
    answers.append(call())


def test_drainers_of_all_shards_meet_at_one_followee(world):
    bob, *fans = make_accounts(25)
    for fan in fans:
        follow(fan, bob)
    answers = run_together(partial(mirror, fan, deliveries_of(fan)) for fan in fans)
    assert failures(answers) == []
    drain_all()  # their moves are postponed
    assert_drained_truth()
    assert sorted(members(FOLLOWERS_LIST, bob)) == sorted(fans)


def test_a_batch_about_one_followee_is_one_write_of_their_count(world):
    bob, *fans = make_accounts(41)
    fans = [fan for fan in fans if shard_of(fan) == shard_of(fans[0])]
    for fan in fans:
        follow(fan, bob)
    batch = [delivery for fan in fans for delivery in deliveries_of(fan)]
    with count_calls() as calls:
        mirror(fans[0], batch)
    assert follower_count(bob) == Count(len(fans), 1)
    assert calls.sql.total() == 2  # forward edges; the function
    assert calls.round_trips <= 2 + 2  # list and counts, twice where Redis had no script yet


def test_death_between_rows_and_caches_is_repaired_by_the_next_drain(world, drain):
    ann, bob, eve = make_accounts(3)
    follow(ann, bob)
    drain()
    assert members(FOLLOWERS_LIST, bob) == [ann]
    follow(eve, bob)

    with dying_at("relations.mirrored"):
        drain()
    assert (eve, bob) in backward_edges()
    assert members(FOLLOWERS_LIST, bob) == [ann]  # what is to be repaired
    drain()
    assert members(FOLLOWERS_LIST, bob) == [eve, ann]
    assert_drained_truth()


def test_followers_shard_hears_of_its_own_list_before_the_other_side(world, drain, monkeypatch):
    """An unreachable shard of a followee must not delay the follower's own list."""
    ann, bob = make_accounts(2)
    members(FOLLOWING_LIST, ann)
    with monkeypatch.context() as patch:
        patch.setattr("infra.changes.append.inline_consumers_of", lambda kinds: [])
        follow(ann, bob)
    assert members(FOLLOWING_LIST, ann) == []

    def away() -> None:
        raise RuntimeError

    with armed("relations.mirrored", away):
        drain()
    assert members(FOLLOWING_LIST, ann) == [bob]


def test_replayed_change_of_long_ago_leaves_caches_alone(world, drain):
    ann, bob, eve = make_accounts(3)
    follow(ann, bob)
    old = [Delivery(1, ann, datetime(2026, 1, 1, tzinfo=UTC), EdgeChanged(bob, before=0, after=1))]
    follow(ann, eve)
    drain()
    warm = members(FOLLOWING_LIST, ann), members(FOLLOWERS_LIST, bob)
    mirror(ann, old)
    refresh_following_lists(shard_of(ann), old)
    with count_calls() as calls:
        assert (members(FOLLOWING_LIST, ann), members(FOLLOWERS_LIST, bob)) == warm
    assert calls.sql.total() == 0
