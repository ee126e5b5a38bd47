"""Trends: computed by a periodic task, shown by the rules of the public timeline."""

import time

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, Restriction
from infra.caching.client import redis
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from posts.types import Draft, Kind, Visibility
from relations.actions.block import block
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.people import cast
from tests.world import drain_all, publish, restrict
from timelines.trends.actions.compute import HALF_LIFE_S, _best_posts, compute_trends
from timelines.trends.types import MarkedPost

TAGS, POSTS = "/api/v1/trends/tags", "/api/v1/trends/statuses"
DAY_S = 86_400


people = cast(6)


@pytest.fixture
def guest(people):
    return Caller(None)


def names(caller, **query):
    return [tag["name"] for tag in caller.get(TAGS, query).json()]


def ids(caller, **query):
    return [status["id"] for status in caller.get(POSTS, query).json()]


def compute():
    drain_all()
    return compute_trends(time.time())


def mark(post, people):
    for account in people:
        mark_post(account, post, Kind.FAVOURITE, True)


def test_nothing_before_the_first_run_and_on_a_quiet_site(people, guest):
    assert names(guest) == ids(guest) == guest.get("/api/v1/trends/links").json() == []
    publish(people[0], "#alone")
    compute()
    assert names(guest) == ids(guest) == []


def test_tags_that_more_accounts_use_than_usually(people, guest):
    for day in range(6, 0, -1):
        for account in people[:4]:
            publish(account, "#daily", clock_s=lambda day=day: time.time() - day * DAY_S)
    for account in people[:4]:
        publish(account, "#daily and #News")
    for account in people[:5]:
        publish(account, "#news #hot")
    for _ in range(9):
        publish(people[0], "#loud")
    create_post(people[1], Draft("#loud", visibility=Visibility.UNLISTED))
    create_post(people[2], Draft("#loud", visibility=Visibility.PRIVATE))
    compute()
    assert names(guest) == ["hot", "news"], "one person, or the same as each day, is no trend"
    assert guest.get("/api/v1/trends").json() == guest.get(TAGS).json()
    assert guest.get(TAGS).json()[0]["history"][0]["accounts"] == "5"
    assert names(guest, limit=1) == ["hot"] and names(guest, offset=1) == ["news"]
    assert "following" in Caller(people[0]).get(TAGS).json()[0]


def test_accounts_that_moderators_hide_make_no_trend(people, guest):
    for account in people[:4]:
        publish(account, "#spam")
    for account in people[:5]:
        publish(account, "#news")
    for account, restriction in zip(
        people, (Restriction.LIMITED, Restriction.SUSPENDED), strict=False
    ):
        restrict(account, restriction)
    compute()
    assert names(guest) == ["news"]


def test_posts_with_the_most_marks(people, guest):
    author, *others = people
    few, many, sensitive, unlisted, two, _ = (
        create_post(author, Draft(text, **options))
        for text, options in (
            ("few", {}), ("many", {}), ("sensitive", {"sensitive": True}),
            ("unlisted", {"visibility": Visibility.UNLISTED}), ("two", {}), ("pair", {}),
        )
    )  # fmt: skip
    answer = create_post(others[0], Draft("reply", in_reply_to=few))
    for post in (many, sensitive, unlisted, answer):
        mark(post, others[1:])
    mark(few, others[:3])
    mark(two, others[:2])
    repost(others[0], many)
    compute()
    assert ids(guest) == [many.public, few.public]
    assert ids(guest, limit=1, offset=1) == [few.public]


def test_a_deleted_post_is_gone_at_once_and_rules_hold(people, guest):
    author, second, third, *others = people
    posts = [publish(account, "hello") for account in (author, second, third)]
    for post in posts:
        mark(post, others)
    compute()
    me = Caller(others[0])
    assert set(ids(me)) == set(ids(guest)) == {post.public for post in posts}
    delete_post(posts[0])
    mute(others[0], second)
    assert ids(me) == [posts[2].public]
    block(third, others[0])
    assert ids(me) == []
    assert set(ids(guest)) == {posts[1].public, posts[2].public}
    restrict(second, Restriction.LIMITED)
    update_profile(third, ProfileEdit(is_discoverable=False))
    drain_all()
    assert ids(guest) == []


def test_an_older_post_needs_more_marks():
    now = 1_800_000_000.0
    new, old = (PostId(int(now - age_s) - EPOCH, 1, 0) for age_s in (0, HALF_LIFE_S + 60))
    assert _best_posts([MarkedPost(old, 10), MarkedPost(new, 5)], now) == [new.public, old.public]
    assert _best_posts([MarkedPost(old, 11), MarkedPost(new, 5)], now) == [old.public, new.public]


def test_wrong_places_are_refused(guest):
    for path in (TAGS, POSTS, "/api/v1/trends/links"):
        assert_refused(guest.get(path, {"offset": "-1"}), 422)
        assert_refused(guest.get(path, {"limit": "x"}), 422)


def test_costs(people, guest, monkeypatch):
    for account in people:
        publish(account, "#hot")
    mark(publish(people[0]), people[1:])
    compute()
    assert len(ids(guest)) == 1
    with count_calls() as calls:
        ids(guest)
    assert calls.statements == []
    monkeypatch.setattr("timelines.trends.actions.compute.MOST_READ", 0)
    assert compute().tags == [] == compute().posts
    redis().call("FLUSHDB")
    assert names(guest) == []
