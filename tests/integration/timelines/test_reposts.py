"""Reposts and replies in home timelines: one entry per post, with any number of sources."""

from collections.abc import Callable

import orjson
import pytest

from infra.api.pages import Window
from infra.caching.client import redis
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.ids import EPOCH, PostId
from posts.types import Draft, Kind
from relations.actions.follow import follow, unfollow
from tests.budgets import count_calls
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.people import cast
from tests.world import make_accounts, publish
from timelines.home.page import home_page
from timelines.stores.factory import timeline_store

Drain = Callable[[], int]


people = cast(3, follows=1)


def shown(viewer_id: int) -> list[dict]:
    return [orjson.loads(body) for body in home_page(viewer_id, Window(40)).items]


@pytest.mark.parametrize("is_live", [True, False])
def test_a_friends_repost_brings_a_strangers_post(people, drain: Drain, is_live) -> None:
    me, friend, unrelated = people
    original = publish(unrelated)
    if is_live:
        drain()
        first_page(me)
    event = repost(friend, original)
    drain()
    (status,) = shown(me)
    assert (status["id"], status["reblog"]["id"]) == (event.public, original.public)
    assert status["account"]["id"] == str(friend)
    assert status["reblog"]["account"]["id"] == str(unrelated)


def test_my_own_repost_is_there_and_gone_at_the_next_read(people) -> None:
    me, _, unrelated = people
    original = publish(unrelated)
    assert first_page(me) == []
    event = repost(me, original)
    assert first_page(me) == [event.public], "no drain has run"
    undo_repost(me, original)
    assert first_page(me) == [], "no drain has run"


@pytest.mark.parametrize("which", ["repost", "original"])
def test_a_repost_is_gone_with_either_post_at_the_next_read(people, drain, which) -> None:
    me, friend, unrelated = people
    original = publish(unrelated)
    event = repost(friend, original)
    drain()
    assert first_page(me) == first_page(me) == [event.public]
    if which == "repost":
        undo_repost(friend, original)
    else:
        delete_post(original)
    assert first_page(me) == [], "no drain has run"
    drain()
    redis().call("FLUSHDB")
    assert first_page(me) == []


def test_a_push_that_comes_after_the_repost_was_taken_back_is_not_shown(people, drain) -> None:
    me, friend, unrelated = people
    original = publish(unrelated)
    drain()
    first_page(me)
    repost(friend, original)
    undo_repost(friend, original)
    drain()
    assert first_page(me) == []


def test_follow_brings_reposts_and_unfollow_takes_them(people, drain: Drain) -> None:
    me, _, unrelated = people
    originals = [publish(unrelated) for _ in range(3)]
    (other,) = make_accounts(1)
    events = [repost(other, original).public for original in originals]
    assert first_page(me) == []
    follow(me, other)
    drain()
    assert first_page(me) == sorted(events, reverse=True)
    unfollow(me, other)
    assert first_page(me) == []


def test_pages_below_the_live_timeline_have_reposts_too(people, drain, settings) -> None:
    settings.TIMELINE_ENTRIES = 6
    timeline_store.cache_clear()
    me, friend, unrelated = people
    originals = [publish(unrelated, clock_s=lambda n=n: EPOCH + 100 + n) for n in range(15)]
    events = [
        repost(friend, post, clock_s=lambda n=n: EPOCH + 200 + n // 3)
        for n, post in enumerate(originals)
    ]
    drain()
    expected = [event.public for event in reversed(events)]
    for limit in (2, 7):
        assert read_to_end(me, limit) == expected
        assert read_from_bottom(me, limit) == expected
    timeline_store.cache_clear()


def test_replies_are_posts_like_others(people, drain: Drain) -> None:
    me, friend, _ = people
    parent = publish(me)
    answer = create_post(friend, Draft("so?", in_reply_to=parent))
    drain()
    status, _ = shown(me)
    assert (status["id"], status["in_reply_to_id"]) == (answer.public, parent.public)


def test_counts_and_what_i_did_are_beside_the_post(people, drain: Drain) -> None:
    me, friend, unrelated = people
    post = publish(friend)
    drain()
    first_page(me)
    mark_post(me, post, Kind.FAVOURITE, True)
    (status,) = shown(me)
    assert (status["favourited"], status["bookmarked"]) == (True, False)
    repost(unrelated, post)
    create_post(unrelated, Draft("so?", in_reply_to=post))
    drain()
    (status,) = shown(me)
    counted = [status[f"{name}_count"] for name in ("replies", "reblogs", "favourites")]
    assert counted == [1, 1, 1]


def test_a_warm_page_of_reposts_and_marks_costs_one_round_trip(people, drain: Drain) -> None:
    me, friend, *_ = people
    authors = make_accounts(20)
    for author in authors:
        original = publish(author)
        repost(friend, original)
        mark_post(me, original, Kind.FAVOURITE, True)
    drain()
    first_page(me)
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert (calls.statements, calls.round_trips) == ([], 2)
    with count_calls() as calls:
        assert all(status["reblog"]["favourited"] for status in shown(me))
    assert (calls.statements, calls.round_trips) == ([], 2)
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert (calls.statements, calls.round_trips) == ([], 1), "the process remembers the page"


def test_a_cut_inside_a_second_keeps_reposts_whole(people, drain, settings) -> None:
    settings.TIMELINE_ENTRIES = 5
    timeline_store.cache_clear()
    me, friend, unrelated = people
    follow(me, unrelated)
    originals: list[PostId] = [publish(unrelated, clock_s=lambda: EPOCH + 100) for _ in range(6)]
    events = [repost(friend, post, clock_s=lambda: EPOCH + 100) for post in originals]
    drain()
    last = map(max, zip(originals, events, strict=True))
    expected = [post.public for post in sorted(last, reverse=True)]
    assert read_to_end(me, 3) == read_from_bottom(me, 5) == expected
    timeline_store.cache_clear()
