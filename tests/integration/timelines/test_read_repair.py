"""Read repair: only a page with mostly stale entries requests a repair.

The sampling audit of live timelines, and its metrics.
"""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.integration.timelines.broken_timelines import lose, stored
from tests.integration.timelines.homes import first_page
from tests.periodic import run_task
from tests.scrapes import by_shard
from tests.world import drain_all, make_accounts, publish
from timelines.actions.repair_timeline import MIN_ENTRIES, repair_shard
from timelines.queries.difference import find_difference
from timelines.sampling import HOLES, HOLES_AUDIT, HOLES_COLLECTOR
from timelines.stores.factory import timeline_store
from timelines.types import Entry

POSTS = 20


@pytest.fixture
def home(world):
    """A live reader of two friends, with ten posts of each."""
    me, ann, bob = make_accounts(3)
    follow(me, ann)
    follow(me, bob)
    drain_all()
    first_page(me)
    posts = [publish(author) for _ in range(POSTS // 2) for author in (ann, bob)]
    drain_all()
    assert len(first_page(me)) == POSTS
    return me, (ann, bob), posts


def is_filed(reader_id):
    requests = key("timelines.repairs:v1", shard_of(reader_id))
    return bool(redis().call("SISMEMBER", requests, reader_id))


def delete(posts):
    for post in posts:
        delete_post(post)
    drain_all()


def test_page_of_mostly_deleted_posts_has_the_timeline_mended(home):
    me, _, posts = home
    delete(posts[5:16])
    expected = [post.public for post in sorted(posts[:5] + posts[16:], reverse=True)]
    assert first_page(me) == expected
    assert is_filed(me)
    assert repair_shard(shard_of(me)) == 1
    assert first_page(me) == expected
    assert not is_filed(me)
    assert len(timeline_store().peek([me])[me].packed) == len(expected)
    with count_calls() as calls:
        first_page(me)
    assert not calls.sql


def test_half_is_not_enough(home):
    me, _, posts = home
    delete(posts[:10])
    first_page(me)
    assert not is_filed(me)


def test_muted_authors_are_no_fault(home):
    me, (ann, bob), _ = home
    mute(me, ann)
    mute(me, bob)
    assert first_page(me) == []
    assert not is_filed(me)


def test_small_page_says_nothing(home):
    me, _, posts = home
    delete(posts)
    first_page(me, MIN_ENTRIES - 2)
    assert not is_filed(me)


def test_entries_of_whom_one_does_not_follow_are_dead(home):
    """As when a store that was restored has the entries again."""
    me, _, _ = home
    (unrelated,) = make_accounts(1)
    seen = timeline_store().peek([me])[me]
    strange = [publish(unrelated) for _ in range(21)]
    drain_all()
    timeline_store().push({me: [Entry.of_post(post) for post in strange]})
    assert len(first_page(me)) == POSTS
    assert is_filed(me)
    run_task("repair_requested_timelines", ["default", shard_of(me)])
    assert timeline_store().peek([me])[me] == seen


def test_filed_once_a_minute(home):
    me, _, posts = home
    delete(posts)
    first_page(me)
    redis().call("DEL", key("timelines.repairs:v1", shard_of(me)))
    first_page(me)
    assert not is_filed(me)
    assert 0 < redis().call("TTL", key("timelines.repair_requested:v1", me)) <= 60


def test_timeline_that_is_gone_by_then_stays_so(home):
    me, _, posts = home
    delete(posts)
    first_page(me)
    timeline_store().drop(me)
    assert repair_shard(shard_of(me)) == 0
    assert stored(me) is None


@pytest.fixture
def sampled_home(world):
    me, friend = make_accounts(2)
    follow(me, friend)
    drain_all()
    first_page(me)
    posts = [publish(friend) for _ in range(4)]
    drain_all()
    return me, posts


def shown(name):
    return by_shard(HOLES_COLLECTOR, f"tideline_timeline_{name}")


def test_hole_is_found_shown_and_forgotten_once_it_is_mended(sampled_home):
    me, posts = sampled_home
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


def test_hole_of_a_timeline_that_is_gone_is_none(sampled_home):
    me, posts = sampled_home
    lose(me, posts[:1])
    HOLES_AUDIT.audit(shard_of(me), 0.0)
    timeline_store().drop(me)
    assert HOLES_AUDIT.audit(shard_of(me), 1.0).wrong == {}


def test_hole_is_remembered_while_it_cannot_be_told(sampled_home):
    me, posts = sampled_home
    lose(me, posts[:1])
    HOLES_AUDIT.audit(shard_of(me), 0.0)
    (friend,) = make_accounts(1)
    follow(me, friend)
    assert HOLES_AUDIT.audit(shard_of(me), 1.0).wrong == {me: 1}


def test_shard_out_of_reach_keeps_no_other_from_its_turn(sampled_home, monkeypatch):
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
