"""Drift is seen by one statement, exactly, while others write.

The audit that never ends, and what /metrics makes of it.
"""

import random
import threading

import pytest
from django.conf import settings
from django.db import connections
from redis.exceptions import ConnectionError as RedisConnectionError

from counters import periodic
from counters.jobs.drifting_counts import repair
from counters.kinds import CounterKind
from counters.metrics import DRIFT_COLLECTOR
from counters.periodic import DRIFT_AUDIT, OWNERS
from counters.queries.drift import Drift, find_drift, list_owners
from counters.registry import (
    CountedRows,
    KindCountedTwice,
    counted_rows_by_kind,
    register_counted_rows,
)
from infra.changes.management.commands.compensate_changes import Command as Compensator
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from posts.actions.delete_post import delete_post
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.integration.counters.drifting import lose, spoil
from tests.periodic import run_task
from tests.plans import nodes_of, settle
from tests.races import failures, run_together
from tests.scenarios.background import threads
from tests.scrapes import by_shard
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


FILL = "INSERT INTO counters_counter SELECT 8 + 4 * n, 0, 1, 0, 1 FROM generate_series(0, %s) n"
ANN, EVE, SHARD = 8, 8 + 4 * 399, "shard0"


@pytest.fixture
def many(world):
    """400 accounts of one shard, with counts of nothing."""
    assert shard_of(ANN) == shard_of(EVE) == SHARD
    execute(SHARD, FILL, (399,))


def wrong(draw: float) -> dict[int, int]:
    return DRIFT_AUDIT.audit(SHARD, draw).wrong


def shown() -> dict[str, float]:
    return by_shard(DRIFT_COLLECTOR, "tideline_counter_drift")


def test_what_is_wrong_is_found_shown_and_forgotten_once_it_is_mended(many):
    assert wrong(0.0) == {}
    spoil(ANN + 4, CounterKind.FOLLOWERS, +2)
    assert wrong(0.0) == {ANN + 4: 1}
    assert wrong(0.9) == {ANN + 4: 1}, "the sample was elsewhere, and it is wrong still"
    assert shown() == {SHARD: 1.0}
    repair(SHARD, ANN + 4)
    assert wrong(0.9) == {}
    assert shown() == {SHARD: 0.0}


def test_everybody_is_sampled_at_some_time(many):
    spoil(EVE, CounterKind.FOLLOWERS, +1)
    rng = random.Random(5)
    tries = next(n for n in range(1, 500) if wrong(rng.random()))
    assert tries < 10 * 400 / OWNERS


def test_all_shards_are_sampled_and_the_default_database_is_not(world):
    run_task("sample_counts", ["default", *settings.SHARD_ALIASES])
    assert shown() == dict.fromkeys(settings.SHARD_ALIASES, 0.0)


def test_sample_costs_what_it_says(many):
    DRIFT_AUDIT.audit(SHARD, 0.5)
    with count_calls() as calls:
        DRIFT_AUDIT.audit(SHARD, 0.5)
    assert (calls.sql.total(), calls.round_trips) == (4, 2)


def test_account_too_large_for_a_sample_stays_what_it_was(many, monkeypatch):
    spoil(ANN, CounterKind.FOLLOWERS, +2)
    assert wrong(0.0) == {ANN: 1}
    monkeypatch.setattr(periodic, "SET_TIMEOUT", "SET LOCAL statement_timeout = '1ms'")
    slow = periodic.find_drift

    def find_slowly(alias, owner_ids):
        execute(alias, "SELECT pg_sleep(0.1)")
        return slow(alias, owner_ids)

    monkeypatch.setattr(periodic, "find_drift", find_slowly)
    assert wrong(0.0) == {ANN: 1}


def test_without_redis_nothing_is_shown_and_nothing_raised(world, monkeypatch):
    def away(aliases):
        raise RedisConnectionError

    monkeypatch.setattr("counters.metrics.DRIFT.read", away)
    assert shown() == {}


def test_many_compensators_do_no_harm(many):
    spoil(ANN, CounterKind.FOLLOWERS, +2)
    run_together([lambda: wrong(0.0)] * 4)
    assert shown() == {SHARD: 1.0}


def test_shard_that_is_down_keeps_no_other_from_being_sampled(world, monkeypatch):
    monkeypatch.setitem(connections["shard1"].settings_dict, "HOST", "/nowhere")
    connections["shard1"].close()
    run_task("sample_counts", settings.SHARD_ALIASES)
    monkeypatch.undo()
    assert shown() == dict.fromkeys(["shard0", "shard2", "shard3"], 0.0)


@pytest.mark.parametrize(("every", "shards"), [(2.0, settings.SHARD_ALIASES), (None, [])])
def test_compensator_samples_where_it_goes_on_for_ever(world, every, shards):
    class OneRound(Compensator):
        def is_stopping(self):
            return list(shown()) == shards

    list(OneRound().iter_batches(Work(all_aliases()), {"every": every, "shard": None}))
    assert list(shown()) == shards
