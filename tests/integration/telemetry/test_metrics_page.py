"""Who is shown /metrics.

What the architecture promises shows in numbers.
"""

from threading import Event

import pytest
from django.db import OperationalError
from django.test import Client
from prometheus_client import REGISTRY
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.breaker import Breaker, Pauses
from infra.caching.client import redis
from infra.telemetry.publishing import metrics_folder
from infra.telemetry.snapshot_folder import SnapshotFolder
from infra.telemetry.snapshots import MetricFamily, MetricSample, Snapshot
from relations.actions.follow import follow
from tests.waiting import until
from tests.world import make_accounts

pytestmark = pytest.mark.usefixtures("world")


def get(**headers):
    return Client().get("/metrics", headers=headers)


def test_who_asks_directly_is_shown_counts_and_what_stores_say():
    page = get()
    assert page.status_code == 200
    assert b"tideline_responses_total" in page.content
    assert b"# TYPE tideline_changes gauge" in page.content


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Forwarded-Proto"])
def test_who_came_through_a_proxy_is_not(header):
    assert get(**{header: "for=192.0.2.1"}).status_code == 404


def test_with_a_token_only_who_has_it(settings):
    settings.METRICS_TOKEN = "scrape-me"
    assert get().status_code == 404
    assert get(Authorization="Bearer scrape-you").status_code == 404
    through_a_proxy = {"Authorization": "Bearer scrape-me", "X-Forwarded-For": "192.0.2.1"}
    assert get(**through_a_proxy).status_code == 200


def test_what_stores_say_is_not_what_a_version_before_counted(settings, tmp_path):
    settings.RUNTIME_DIR = str(tmp_path)
    name = "tideline_moderation_decisions"
    counted = MetricFamily(
        name, "counter", "", [MetricSample(f"{name}_total", {"kind": "warn"}, 7)]
    )
    before = SnapshotFolder(metrics_folder()).open_writer()
    before.write(Snapshot("web", [counted]))
    before.close()
    page = get().content.decode()
    assert page.count(f"# TYPE {name}_total counter") == 1
    assert f'{name}_total{{kind="warn"}} 7.0' not in page


HOME = "/api/v1/timelines/home"


def pages(sources):
    return REGISTRY.get_sample_value("tideline_home_pages_total", {"sources": sources}) or 0


def fail_with(error):
    def fail(*_, **__):
        raise error

    return fail


def test_warm_page_is_from_all_sources(me):
    me.get(HOME)
    before = pages("all")
    assert me.get(HOME).status_code == 200
    assert pages("all") == before + 1


def test_page_without_redis_is_not(me, monkeypatch):
    before = pages("all"), pages("without_redis")
    with monkeypatch.context() as away:
        away.setattr(redis()._client, "run", fail_with(RedisConnectionError("away")))
        assert me.get(HOME).status_code == 200
    assert (pages("all"), pages("without_redis")) == (before[0], before[1] + 1)


def test_page_that_lacks_a_shard_is_none(me, monkeypatch):
    before = pages("missing_shard")
    monkeypatch.setattr("timelines.home.page.feed_page", fail_with(OperationalError("away")))
    assert me.get(HOME).status_code == 503
    assert pages("missing_shard") == before + 1


def test_breaker_shows_until_it_heals():
    healed, name = Event(), "tideline_redis_breaker_open"
    breaker = Breaker(healed.is_set, healed.is_set, Pauses())
    breaker.trip()
    assert REGISTRY.get_sample_value(name) == 1
    healed.set()
    until(lambda: REGISTRY.get_sample_value(name) == 0)


def test_deliveries_are_counted_by_kind(drain):
    name, labels = "tideline_changes_delivered_total", {"kind": "relations.edge_changed"}
    before = REGISTRY.get_sample_value(name, labels) or 0
    follow(*make_accounts(2))
    drain()
    assert REGISTRY.get_sample_value(name, labels) == before + 1
