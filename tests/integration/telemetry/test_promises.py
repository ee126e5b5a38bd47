"""What the architecture promises shows in numbers."""

from threading import Event

from django.db import OperationalError
from prometheus_client import REGISTRY
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.breaker import Breaker, Pauses
from infra.caching.client import redis
from relations.actions.follow import follow
from tests.waiting import until
from tests.world import make_accounts

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
    monkeypatch.setattr("timelines.home.page.load_page", fail_with(OperationalError("away")))
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
