"""Read repair: only a page with mostly stale entries requests a repair."""

import pytest

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.integration.timelines.broken_timelines import stored
from tests.integration.timelines.homes import first_page
from tests.periodic import run_task
from tests.world import drain_all, make_accounts, publish
from timelines.actions.repair_timeline import MIN_ENTRIES, repair_shard
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
