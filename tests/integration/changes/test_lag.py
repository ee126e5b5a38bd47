"""Lag: what is pending and parked, per database and lane, and how old.

What /metrics says of the change tables, whatever is away.
"""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import OperationalError, connections
from prometheus_client import CollectorRegistry

from infra.caching.client import redis
from infra.changes.compensate import build_periodic_runner, drain
from infra.changes.lag import LAG, LaneLag, list_lane_lags, measure_lag
from infra.changes.lanes import LaneGroup, all_lanes
from infra.changes.metrics import LagCollector
from infra.changes.parking import park
from infra.changes.pausing import end_pause, pause_kind
from infra.changes.verbs.delivering import ShowChangeLag
from infra.sharding.probe import CachedProbe
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from tests.integration.changes.kinds import (
    ALIAS,
    BULK_LANE,
    FOLDED_LANE,
    LANE,
    OTHER_LANE,
    OUTSIDE_LANE,
    OWNER,
    BulkNoted,
    NotedInline,
    emit,
    note,
)

IMPORTED_LANE = LaneGroup.IMPORTED.value
AGE = "UPDATE changes_change SET created_at = now() - %s * interval '1 s' WHERE id = %s"


def test_every_lane_is_there_with_nothing_behind(journal):
    assert list_lane_lags(ALIAS) == [
        LaneLag(ALIAS, lane, 0, 0, 0.0)
        for lane in (0, 1, 64, 65, 128, IMPORTED_LANE, FOLDED_LANE, OUTSIDE_LANE)
    ]


def test_pending_and_parked_and_the_oldest_pending(journal, settings):
    settings.CHANGE_MAX_ATTEMPTS = 1
    [bad] = note()
    journal.fail_for(bad)
    drain(ALIAS, LANE)
    execute(ALIAS, AGE, (5_000, bad))  # parked: it is not the oldest
    old, new = note(2)
    execute(ALIAS, AGE, (60, old))
    execute(ALIAS, AGE, (10, new))
    emit(BulkNoted())
    other, lane, *bulks, waiting, imported, folded, outside = list_lane_lags(ALIAS)
    [bulk] = [lag for lag in bulks if lag.lane == BULK_LANE]
    assert lane[:4] == (ALIAS, LANE, 2, 1)
    assert 60 <= lane.oldest_s < 4_000
    assert other == LaneLag(ALIAS, OTHER_LANE, 0, 0, 0.0)
    assert waiting == LaneLag(ALIAS, 128, 0, 0, 0.0)
    assert imported == LaneLag(ALIAS, IMPORTED_LANE, 0, 0, 0.0)
    assert folded == LaneLag(ALIAS, FOLDED_LANE, 0, 0, 0.0)
    assert outside == LaneLag(ALIAS, OUTSIDE_LANE, 0, 0, 0.0)
    assert bulk.pending == 1
    assert 0 <= bulk.oldest_s < 4_000


def test_lane_that_is_no_longer_used_shows_its_rows(journal, settings):
    settings.CHANGE_LANES, settings.BULK_LANES = 4, 1
    note(owner_id=OWNER)
    settings.CHANGE_LANES = 1
    waiting = [(lag.lane, lag.pending) for lag in list_lane_lags(ALIAS)]
    quiet = [(lane, 0) for lane in (64, 128, IMPORTED_LANE, FOLDED_LANE, OUTSIDE_LANE)]
    assert waiting == [(0, 0), (3, 1), *quiet]


def show(**options):
    out, error = StringIO(), StringIO()
    try:
        call_command(ShowChangeLag(), stdout=out, stderr=error, **options)
    except SystemExit as ended:
        assert ended.code == 1
    return out.getvalue().splitlines(), error.getvalue()


def test_command_shows_a_line_a_lane(journal):
    note(3)
    lines, _ = show()
    assert lines[0].split() == ["database", "lane", "pending", "parked", "oldest", "s", "paused"]
    assert len(lines) == 1 + len(all_lanes()) * len(all_aliases())
    [line] = [line for line in lines if line.startswith("shard0") and line.split()[1] == str(LANE)]
    assert line.split()[2:4] == ["3", "0"]


def test_command_in_json_for_one_database(journal):
    note(3)
    lines, _ = show(json=True, shard=ALIAS)
    lags = [json.loads(line) for line in lines]
    assert [(lag["alias"], lag["lane"], lag["pending"]) for lag in lags] == [
        (ALIAS, lane, 3 * (lane == LANE)) for lane in all_lanes()
    ]


def test_command_tells_of_the_others_when_one_is_down(journal, monkeypatch):
    monkeypatch.setitem(connections["shard1"].settings_dict, "HOST", "/nowhere")
    connections["shard1"].close()
    lines, error = show()
    monkeypatch.undo()
    assert "shard1: unreachable" in error
    assert len(lines) == 1 + len(all_lanes()) * (len(all_aliases()) - 1)


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
