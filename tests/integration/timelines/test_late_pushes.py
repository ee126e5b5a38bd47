"""When a post became visible on each shard: at its arrival, or later, and then it is settled."""

import time

import pytest
from django.conf import settings
from django.db import OperationalError

from infra.changes import failpoints
from infra.changes.failpoints import arm
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.actions.follow import follow
from tests.dying import dying_at
from tests.integration.timelines.many_followers import each, have, make_live, write_followers
from tests.integration.timelines.slow_commits import slow_commits
from tests.world import drain_all, make_accounts, publish
from timelines.recent.actions import settle_posts
from timelines.recent.actions.index_posts import index_recent
from timelines.recent.packs import drop_packs

ROW = "SELECT arrival, settled FROM timelines_recentpost WHERE author_id = %s AND moment = %s"
DUE = "UPDATE changes_change SET next_attempt_at = clock_timestamp()"

REPLICATED = pytest.mark.parametrize("each_index", ["replicated"], indirect=True)


@pytest.fixture
def followed(each_index, monkeypatch):
    monkeypatch.setattr(failpoints, "_armed", {})
    followed, follower = make_accounts(2)
    follow(follower, followed)
    drain_all()
    return followed


def settled(post):
    """By shard that has the post: whether it is settled after its arrival."""
    found = {alias: fetch_all(alias, ROW, (post.author_id, post.moment)) for alias in ALIASES}
    return {alias: late(*rows[0]) for alias, rows in found.items() if rows}


def where(post, value):
    """The value for each shard that must have the post."""
    is_by_author = settings.RECENT_INDEX == "by_author"
    return dict.fromkeys([shard_of(post.author_id)] if is_by_author else ALIASES, value)


def late(arrival, settled_at):
    return settled_at is not None and settled_at > arrival


ALIASES = settings.SHARD_ALIASES


def test_a_prompt_push_is_not_settled(followed):
    post = publish(followed)
    drain_all()
    assert settled(post) == where(post, False)


def test_an_author_has_the_post_before_the_index(followed):
    post = publish(followed)
    assert fetch_all(shard_of(followed), ROW, (followed, post.moment)) == []


def test_a_push_long_after_the_index_is_settled_everywhere(followed):
    post = publish(followed)
    arm("fan_out.indexed", lambda: time.sleep((settle_posts.SETTLE_MS + 50) / 1000))
    drain_all()
    assert settled(post) == where(post, True)


@pytest.mark.parametrize("place", ["fan_out.indexed", "fan_out.page_pushed", "fan_out.pushed"])
def test_a_drain_that_dies_after_the_index_is_repeated_and_settles(followed, place):
    post = publish(followed)
    with dying_at(place):
        drain_all()
    assert settled(post) == where(post, False)
    age(post, settle_posts.SETTLE_MS + 1)
    drain_all()
    assert settled(post) == where(post, True)


def age(post, by_ms):
    for alias in ALIASES:
        older = "UPDATE timelines_recentpost SET arrival = arrival - %s WHERE moment = %s"
        execute(alias, older, (by_ms, post.moment))
    drop_packs([post.author_id])


@REPLICATED
def test_a_shard_that_cannot_settle_gets_a_change_of_its_own(followed, monkeypatch):
    settle = settle_posts.settle_recent
    away = next(alias for alias in ALIASES if alias != shard_of(followed))

    def settle_unless_away(alias, events):
        if alias == away:
            raise OperationalError
        return settle(alias, events)

    monkeypatch.setattr(settle_posts, "settle_recent", settle_unless_away)
    post = publish(followed)
    arm("fan_out.indexed", lambda: time.sleep((settle_posts.SETTLE_MS + 50) / 1000))
    drain_all()
    failpoints.disarm("fan_out.indexed")
    age(post, settle_posts.SETTLE_MS + 1)
    drain_all()
    assert settled(post) == where(post, True)


def test_every_chunk_settles_the_post(small_pieces, followed):
    crowd = write_followers(followed, 30)
    make_live(crowd)
    post = publish(followed)
    arm("fan_out.page_pushed", lambda: age(post, settle_posts.SETTLE_MS + 1))
    drain_all()
    assert have(crowd) == each(crowd, post)
    assert settled(post) == where(post, True)


@REPLICATED
def test_readers_of_a_shard_that_was_away_get_the_post_when_it_arrives_there(followed, monkeypatch):
    away = next(alias for alias in ALIASES if alias != shard_of(followed))
    index = "timelines.recent.replicated.index_recent"

    def index_unless_away(alias, entries):
        if alias == away:
            raise OperationalError
        return index_recent(alias, entries)

    post = publish(followed)
    with monkeypatch.context() as patch:
        patch.setattr(index, index_unless_away)
        drain_all()
    assert settled(post) == {i: False for i in ALIASES if i != away}
    age(post, 60_000)
    execute(shard_of(followed), DUE)
    drain_all()
    assert settled(post) == where(post, False)
    arrivals = {alias: fetch_all(alias, ROW, (followed, post.moment))[0][0] for alias in ALIASES}
    assert arrivals[away] == max(arrivals.values())


@REPLICATED
def test_a_time_that_became_visible_late_is_set_again(followed):
    """The disk of the shard is busy while it commits that the post is visible now."""
    post, alias = publish(followed), ALIASES[0]
    drain_all()
    age(post, settle_posts.SETTLE_MS + 1)
    with slow_commits(alias, "timelines_recentpost", 0.3):
        settle_posts.settle_recent(alias, [post])
    now_ms = fetch_all(alias, f"SELECT {settle_posts.NOW_MS}")[0][0]
    settled_ms = fetch_all(alias, ROW, (post.author_id, post.moment))[0][1]
    assert settled_ms > now_ms - settle_posts.SETTLE_MS
