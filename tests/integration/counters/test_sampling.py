"""The audit that never ends, and what /metrics makes of it."""

import random

import pytest
from django.conf import settings
from django.db import connections
from redis.exceptions import ConnectionError as RedisConnectionError

from counters import periodic
from counters.jobs.recount_counters import repair
from counters.kinds import CounterKind
from counters.metrics import DRIFT_COLLECTOR
from counters.periodic import DRIFT_AUDIT, OWNERS
from infra.changes.management.commands.compensate_changes import Command as Compensator
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from tests.budgets import count_calls
from tests.integration.counters.drifting import spoil
from tests.periodic import run_task
from tests.races import run_together
from tests.scrapes import by_shard

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
