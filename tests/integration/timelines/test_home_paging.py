"""Paging a home timeline: full pages, no repeats and exact cursors, also when entries vanish."""

from collections.abc import Callable

import pytest

from infra.api.pages import Window
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.integration.timelines.homes import (
    at,
    first_page,
    ids_of,
    newest_first,
    pulls,
    read_from_bottom,
    read_to_end,
)
from tests.world import flush_redis, make_accounts, publish
from timelines.home.page import home_page

pytestmark = pytest.mark.redis("single", "cluster")

Drain = Callable[[], int]


def test_pages_are_full_although_entries_fall_out(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend, clock_s=at(second)) for second in range(100, 130)]
    drain()
    first_page(me)
    for post in posts[15:28]:
        delete_post(post)
    page = home_page(me, Window(10))
    assert ids_of(page.items) == newest_first(*posts[:15], *posts[28:])[:10]


def test_paging_goes_below_the_live_timeline_to_the_first_post(
    tiny_timelines: None, world: None, drain: Drain
) -> None:
    me, *friends = make_accounts(6)
    for friend in friends:
        follow(me, friend)
    posts = [publish(f, clock_s=at(100 + n)) for n in range(12) for f in friends]
    drain()
    assert read_to_end(me) == newest_first(*posts)
    assert read_to_end(me) == newest_first(*posts), "now with a live timeline"
    assert read_from_bottom(me) == newest_first(*posts)
    with count_calls() as calls:
        first_page(me, limit=3)
    assert not pulls(calls), "the top of the page is in the live timeline"


def test_ties_within_a_second_are_exact(tiny_timelines: None, world: None, drain: Drain) -> None:
    """Twenty authors post three times each in the same second; the live timeline is cut inside."""
    me, *friends = make_accounts(21)
    for friend in friends:
        follow(me, friend)
    posts = [publish(f, clock_s=at(100)) for _ in range(3) for f in friends]
    drain()
    for limit in (1, 4, 40):
        assert read_to_end(me, limit) == newest_first(*posts)
        assert read_from_bottom(me, limit) == newest_first(*posts)


def test_a_cursor_whose_post_is_gone_still_works(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    a, b, c = (publish(friend, clock_s=at(second)) for second in (100, 101, 102))
    drain()
    delete_post(b)
    assert ids_of(home_page(me, Window(20, max_id=b.public)).items) == [a.public]
    assert ids_of(home_page(me, Window(20, min_id=b.public)).items) == [c.public]


def test_since_id_is_the_newest_and_min_id_the_next(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend, clock_s=at(second)) for second in range(100, 110)]
    drain()
    since = home_page(me, Window(3, since_id=posts[2].public))
    assert ids_of(since.items) == newest_first(*posts[7:])
    immediately = home_page(me, Window(3, min_id=posts[2].public))
    assert ids_of(immediately.items) == newest_first(*posts[3:6])
    between = home_page(me, Window(20, max_id=posts[8].public, since_id=posts[2].public))
    assert ids_of(between.items) == newest_first(*posts[3:8])


def test_older_is_offered_only_when_there_is_more(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend, clock_s=at(second)) for second in range(100, 105)]
    drain()
    assert home_page(me, Window(5)).older is None
    assert home_page(me, Window(4)).older == posts[1].public
    delete_post(posts[0])
    assert home_page(me, Window(4)).older is None, "what is left below is deleted"


def test_a_flush_costs_only_time(tiny_timelines: None, world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend, clock_s=at(second)) for second in range(100, 140)]
    drain()
    page = home_page(me, Window(7))
    flush_redis()
    rest = home_page(me, Window(40, max_id=page.older))
    assert ids_of(page.items) + ids_of(rest.items) == newest_first(*posts)
    late = publish(friend, clock_s=at(200))
    drain()
    assert first_page(me)[0] == late.public


def test_pages_are_full_although_most_authors_are_muted(world: None, drain: Drain) -> None:
    me, loud, quiet = make_accounts(3)
    follow(me, loud)
    follow(me, quiet)
    posts = [publish(quiet, clock_s=at(100 + n)) for n in range(10)]
    for second in range(120, 160):
        publish(loud, clock_s=at(second))
    drain()
    mute(me, loud)
    assert first_page(me, limit=5) == newest_first(*posts)[:5]
    assert read_to_end(me, limit=3) == newest_first(*posts)


def test_a_repost_that_has_not_arrived_does_not_take_a_post_away(
    tiny_timelines: None, world: None, drain: Drain
) -> None:
    """The post is below the live timeline. Its shard knows of the repost at once."""
    me, author, other = make_accounts(3)
    for friend in (author, other):
        follow(me, friend)
    posts = [publish(author, clock_s=at(100 + n)) for n in range(60)]
    drain()
    read_to_end(me)
    reposted = repost(other, posts[0], clock_s=at(200))
    assert read_to_end(me) == newest_first(*posts)
    drain()
    assert read_to_end(me) == newest_first(reposted, *posts[1:])
