"""What /metrics says of the change tables, whatever is away."""

import pytest
from django.db import OperationalError
from prometheus_client import CollectorRegistry

from infra.caching.client import redis
from infra.changes.compensate import build_periodic_runner
from infra.changes.drain import drain
from infra.changes.lag import LAG, measure_lag
from infra.changes.metrics import LagCollector
from infra.changes.parking import park
from infra.changes.pausing import end_pause, pause_kind
from infra.sharding.probe import CachedProbe
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from tests.integration.changes.kinds import ALIAS, LANE, BulkNoted, NotedInline, emit, note


def sample(name, **labels):
    registry = CollectorRegistry()
    registry.register(LagCollector(CachedProbe(valid_s=0, deadline_s=20)))
    return registry.get_sample_value(name, {"shard": ALIAS, **labels})


def counts(lanes):
    return [
        sample("tideline_changes", lanes=lanes, state=state)
        for state in ("pending", "parked", "paused")
    ]


def test_states_by_group_of_lanes(journal):
    pause_kind(ALIAS, "tests.noted", "it breaks")
    note(3)
    drain(ALIAS, LANE)
    park(ALIAS, emit(NotedInline()), "wait")
    emit(BulkNoted(), BulkNoted())
    execute(ALIAS, "UPDATE changes_change SET created_at = created_at - interval '1 hour'")
    assert counts("ordinary") == [0, 1, 3]
    assert counts("bulk") == [2, 0, 0]
    assert counts("waiting") == [0, 0, 0]
    assert 3_600 < sample("tideline_changes_oldest_seconds", lanes="bulk") < 7_200
    assert sample("tideline_changes_oldest_seconds", lanes="ordinary") == 0
    assert sample("tideline_changes_paused_kinds") == 1
    end_pause(ALIAS, "tests.noted")
    assert sample("tideline_changes_paused_kinds") == 0


@pytest.mark.usefixtures("journal")
def test_compensator_reports_every_database():
    build_periodic_runner().run_due(all_aliases())
    assert LAG.read(all_aliases()).keys() == set(all_aliases())


def test_without_redis_the_lag_is_there_all_the_same(journal):
    emit(NotedInline())
    redis().call("FLUSHDB")
    assert counts("ordinary") == [1, 0, 0]
    assert sample("tideline_shard_up") == 1


def test_a_database_that_is_away_has_no_lag_and_is_not_up(journal, monkeypatch):
    def look(alias):
        if alias == ALIAS:
            raise OperationalError("it is away")
        return measure_lag(alias)

    monkeypatch.setattr("infra.changes.metrics.measure_lag", look)
    assert sample("tideline_shard_up") == 0
    assert counts("ordinary") == [None] * 3
    assert sample("tideline_shard_up", shard="shard1") == 1
