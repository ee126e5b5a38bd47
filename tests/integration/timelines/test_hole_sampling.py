"""The sampling audit of live timelines, and its metrics."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.sharding.buckets import shard_of
from relations.actions.follow import follow
from tests.integration.timelines.broken_timelines import lose
from tests.integration.timelines.homes import first_page
from tests.periodic import run_task
from tests.scrapes import by_shard
from tests.world import drain_all, make_accounts, publish
from timelines.queries.difference import find_difference
from timelines.sampling import HOLES, HOLES_AUDIT, HOLES_COLLECTOR
from timelines.stores.factory import timeline_store


@pytest.fixture
def home(world):
    me, friend = make_accounts(2)
    follow(me, friend)
    drain_all()
    first_page(me)
    posts = [publish(friend) for _ in range(4)]
    drain_all()
    return me, posts


def shown(name):
    return by_shard(HOLES_COLLECTOR, f"tideline_timeline_{name}")


def test_hole_is_found_shown_and_forgotten_once_it_is_mended(home):
    me, posts = home
    shard = shard_of(me)
    assert HOLES_AUDIT.audit(shard, 0.0).wrong == {}
    assert shown("complete_ratio") == {shard: 1.0}
    lose(me, posts[:1])
    assert HOLES_AUDIT.audit(shard, 0.0).wrong == {me: 1}
    assert shown("holes") == {shard: 1.0}
    assert shown("complete_ratio") == {shard: 0.75}
    assert HOLES_AUDIT.audit(shard, 1.0).wrong == {me: 1}, "the sample was elsewhere"
    found = find_difference(me, timeline_store().peek([me])[me])
    timeline_store().push({me: found.missing})
    assert HOLES_AUDIT.audit(shard, 1.0).wrong == {}
    assert shown("holes") == {shard: 0.0}


def test_hole_of_a_timeline_that_is_gone_is_none(home):
    me, posts = home
    lose(me, posts[:1])
    HOLES_AUDIT.audit(shard_of(me), 0.0)
    timeline_store().drop(me)
    assert HOLES_AUDIT.audit(shard_of(me), 1.0).wrong == {}


def test_hole_is_remembered_while_it_cannot_be_told(home):
    me, posts = home
    lose(me, posts[:1])
    HOLES_AUDIT.audit(shard_of(me), 0.0)
    (friend,) = make_accounts(1)
    follow(me, friend)
    assert HOLES_AUDIT.audit(shard_of(me), 1.0).wrong == {me: 1}


def test_shard_out_of_reach_keeps_no_other_from_its_turn(home, monkeypatch):
    sampled = []

    def sample(aliases):
        [alias] = aliases
        sampled.append(alias)
        if alias == "shard0":
            raise RedisConnectionError
        return {}

    monkeypatch.setattr(HOLES, "read", sample)
    run_task("sample_holes", ["default", "shard0", "shard1"])
    assert sampled == ["shard0", "shard1"]
