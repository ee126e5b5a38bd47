"""What /metrics says of the change tables: as a compensator saw them, whatever is away."""

import pytest

from infra.caching.client import redis
from infra.changes.chores import Chores
from infra.changes.drain import drain
from infra.changes.lag_report import LAG, report_lag
from infra.changes.parking import park
from infra.changes.pausing import end_pause, pause_kind
from infra.sharding.placement import all_aliases
from infra.sight.scraped import SCRAPED
from tests.integration.changes.kinds import ALIAS, LANE, BulkNoted, NotedAtOnce, emit, note


def sample(name, **labels):
    return SCRAPED.get_sample_value(name, {"shard": ALIAS, **labels})


def counts(lanes):
    return [
        sample("tideline_changes", lanes=lanes, state=state)
        for state in ("pending", "parked", "paused")
    ]


def test_states_by_group_of_lanes(journal):
    pause_kind(ALIAS, "tests.noted", "it breaks")
    note(3)
    drain(ALIAS, LANE)
    park(ALIAS, emit(NotedAtOnce()), "wait")
    emit(BulkNoted(), BulkNoted())
    report_lag(ALIAS)
    assert counts("ordinary") == [0, 1, 3]
    assert counts("bulk") == [2, 0, 0]
    assert counts("waiting") == [0, 0, 0]
    assert 0 < sample("tideline_changes_oldest_seconds", lanes="bulk") < 10
    assert sample("tideline_changes_oldest_seconds", lanes="ordinary") == 0
    assert sample("tideline_changes_paused_kinds") == 1
    end_pause(ALIAS, "tests.noted")
    report_lag(ALIAS)
    assert sample("tideline_changes_paused_kinds") == 0


@pytest.mark.usefixtures("journal")
def test_compensator_reports_every_database():
    Chores().do_due(all_aliases())
    assert LAG.read(all_aliases()).keys() == set(all_aliases())


@pytest.mark.usefixtures("journal")
def test_nobody_has_looked_lately():
    redis().call("FLUSHDB")
    assert counts("ordinary") == [None] * 3
