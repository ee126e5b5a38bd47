"""Drift is seen by one statement, exactly, while others write."""

import threading

import pytest

from counters.errors import KindCountedTwice
from counters.kinds import CounterKind
from counters.queries.drift import Drift, find_drift, list_owners
from counters.registry import CountedRows, counted_rows_by_kind, register_counted_rows
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.delete_post import delete_post
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.integration.counters.drifting import lose, spoil
from tests.plans import nodes_of, settle
from tests.races import failures, run_together
from tests.scenarios.background import threads
from tests.world import drain_all, make_accounts, publish

FOLLOWERS, FOLLOWING, POSTS = CounterKind.FOLLOWERS, CounterKind.FOLLOWING, CounterKind.POSTS


def drift_of(*owner_ids: int) -> list[Drift]:
    return [found for owner in owner_ids for found in find_drift(shard_of(owner), [owner])]


def some_life() -> list[int]:
    """Accounts with rows of every kind, some of which have ended."""
    people = ann, bob, eve, joe = make_accounts(4)
    for follower, followee in ((ann, bob), (ann, eve), (bob, ann), (eve, ann), (joe, ann)):
        follow(follower, followee, FollowOptions(quiet=follower == ann))
    unfollow(ann, eve)
    block(bob, eve)
    publish(ann)
    delete_post(publish(ann))
    drain_all()
    return people


@pytest.mark.parametrize("kind", CounterKind)
def test_every_kind_says_which_rows_it_counts(kind):
    """Other kinds cannot be audited: call register_counted_rows in the app's counter_rows.py."""
    assert kind in counted_rows_by_kind()


def test_two_apps_cannot_count_different_rows_of_one_kind():
    register_counted_rows(POSTS, counted_rows_by_kind()[POSTS])  # the same again is no news
    with pytest.raises(KindCountedTwice):
        register_counted_rows(POSTS, CountedRows("posts_post", "author_id"))


def test_life_leaves_no_drift(world):
    assert drift_of(*some_life()) == []


def test_count_too_high_too_low_and_lost_are_found(world):
    ann, bob, eve, joe = some_life()
    spoil(ann, FOLLOWERS, +2)
    spoil(bob, FOLLOWING, -1)
    lose(eve)
    assert drift_of(ann, bob, eve, joe) == [
        Drift(ann, 0, FOLLOWERS, 5, 3),
        Drift(bob, 0, FOLLOWING, 0, 1),
        Drift(eve, 0, FOLLOWING, 0, 1),
    ]


def test_count_without_a_row_is_found(world):
    (ann,) = make_accounts(1)
    sql = "INSERT INTO counters_counter VALUES (%s, 0, %s, 7, 1)"
    execute(shard_of(ann), sql, (ann, int(CounterKind.BLOCKED)))
    assert drift_of(ann) == [Drift(ann, 0, CounterKind.BLOCKED, 7, 0)]
    assert str(*drift_of(ann)) == f"account {ann} BLOCKED: 7 -> 0"


def test_drift_of_many_owners_is_one_statement(world):
    people = some_life()
    with count_calls() as calls:
        find_drift(shard_of(people[0]), people)
    assert calls.sql.total() == 1


def test_nothing_seems_to_drift_while_others_write(world):
    """Two statements, one for rows and one for counts, would see a follow in between."""
    ann, *others = make_accounts(5)
    alias, done, looks = shard_of(ann), threading.Event(), []

    def toggle(other: int) -> None:
        for _ in range(15):
            follow(ann, other)
            unfollow(ann, other)

    def look() -> None:
        while not done.is_set():
            looks.append(find_drift(alias, [ann]))

    with threads([look], stop=done):
        assert failures(run_together([lambda o=o: toggle(o) for o in others])) == []
    assert len(looks) > 10
    assert not any(looks)


def test_owners_are_all_who_have_a_count_or_a_row_in_order(world):
    people = some_life()
    nobody = make_accounts(1)[0]
    lose(people[3])
    for alias in {shard_of(owner) for owner in [*people, nobody]}:
        ours = sorted(owner for owner in people if shard_of(owner) == alias)
        assert [owner for (owner,) in list_owners(alias, 0, 10)] == ours
    assert list_owners(shard_of(people[1]), people[1] - 1, 1) == [(people[1],)]
    assert list_owners(shard_of(people[3]), people[3], 10) == []


def test_owner_with_many_rows_is_one_step(world):
    """A DISTINCT would read every edge of a big account to find the next."""
    ann, bob = 8, 12
    fill = "INSERT INTO relations_backwardedge SELECT %s, n, 1, 1, 1 FROM generate_series(1, %s) n"
    columns = "(followee_id, follower_id, attribute, revision, since_ms)"
    for owner, count in ((ann, 60_000), (bob, 1)):
        execute(
            shard_of(ann), fill.replace("edge SELECT", f"edge {columns} SELECT"), (owner, count)
        )
    settle(shard_of(ann), "relations_backwardedge")
    with count_calls() as calls:
        assert list_owners(shard_of(ann), 0, 10) == [(ann,), (bob,)]
    (statement,) = calls.statements
    scans = [node for node in nodes_of(statement) if "Relation Name" in node]
    assert {scan["Relation Name"] for scan in scans} >= {"relations_backwardedge"}
    for scan in scans:
        assert scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0) <= 1, scan
