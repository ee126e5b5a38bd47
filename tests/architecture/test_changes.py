"""Every change an app emits has somebody who consumes it, and its table serves the drain."""

import re

import pytest
from django.conf import settings

from infra.changes.batches import TAKE
from infra.changes.registry import (
    Payload,
    _once,
    consumers_of,
    registered_consumers,
)
from infra.sharding.sql import execute, fetch_all
from lab.reference.pages import rendered
from tests.plans import settle

# A long queue of bulk work, parked rows, and among them a lane that should not notice.
FILL = """
INSERT INTO changes_change (lane, kind, owner_id, payload, state)
SELECT CASE mod(n, 50) WHEN 0 THEN 1 ELSE 2 END, 'tests.x', n, '{}', (n < 5000)::int
FROM generate_series(1, 20000) AS n
"""


def is_ours(payload: type[Payload]) -> bool:
    return (settings.BASE_DIR / payload.__module__.partition(".")[0]).is_dir()


OURS = [p for p in Payload.__subclasses__() if is_ours(p) and not p.__module__.startswith("test")]


def test_the_kinds_looked_at_are_the_ones_meant():
    assert {"relations.edge_changed", "posts.created"} <= {payload.kind for payload in OURS}


@pytest.mark.parametrize("payload", OURS, ids=lambda payload: payload.kind)
def test_kind_is_named_after_its_app_in_the_past_tense_and_fits_its_column(payload):
    app, dot, what = payload.kind.partition(".")
    assert (app, dot) == (payload.__module__.partition(".")[0], ".")
    assert what.isidentifier()
    assert len(payload.kind) <= 64


@pytest.mark.parametrize("payload", OURS, ids=lambda payload: payload.kind)
def test_every_change_has_a_consumer(payload):
    assert consumers_of(payload.kind)


def test_consumers_run_from_the_lowest_floor_up():
    apps = [app for app in settings.INSTALLED_APPS if (settings.BASE_DIR / app).is_dir()]
    floors = [consumer.__module__.partition(".")[0] for consumer in registered_consumers()]
    ours = [apps.index(app) for app in floors if app in apps]
    assert ours == sorted(ours)


def test_every_consumer_is_on_the_page_of_changes_with_what_it_does():
    told = rendered((settings.BASE_DIR / "docs/explanation/changes.md").read_text())
    rows = re.findall(r"^\| `(\w+)` \| `\S.*` \| (?:yes|no) \| [A-Z].*\. \|$", told, re.MULTILINE)
    all_ = ((c.__module__.partition(".")[0], c.__name__) for c in registered_consumers())
    assert {name for app, name in all_ if app in settings.INSTALLED_APPS} == set(rows)


def test_a_consumer_that_the_request_spares_the_drain_returns_no_follow_ups():
    """The request ignores them."""
    for consumer in _once:
        assert consumer.__annotations__["return"] is None, consumer.__name__


def test_batch_is_found_by_its_index(world):
    """However many rows of other lanes, or parked ones, lie before it."""
    execute("shard0", FILL)
    settle("shard0", "changes_change")
    plan = "\n".join(row[0] for row in fetch_all("shard0", f"EXPLAIN {TAKE}", ([1], [500])))
    assert "change_pending" in plan
