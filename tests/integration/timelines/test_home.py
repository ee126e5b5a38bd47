"""Home pages: whose posts, in which order, by which cursor, after what happened."""

from collections.abc import Callable
from functools import partial

import pytest
from pytest_django import Settings

from accounts.queries.cards import forget_cards
from infra.api.errors import InvalidCursor
from infra.api.pages import Window
from infra.caching.client import redis
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from posts.known import known_posts
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.cache import FOLLOWING
from relations.types import FollowWish
from tests.budgets import Calls, count_calls
from tests.integration.timelines.homes import (
    first_page,
    ids_of,
    read_from_bottom,
    read_to_end,
)
from tests.world import find_live, make_accounts, publish
from timelines.queries.home import home_page
from timelines.stores.chosen import timeline_store

Drain = Callable[[], int]
SHOWN = FollowWish(reposts=True)


@pytest.fixture
def small_timelines(settings: Settings) -> None:
    """Live timelines of ten entries, so that paging goes below them."""
    settings.TIMELINE_ENTRIES = 10
    timeline_store.cache_clear()


@pytest.fixture(autouse=True)
def _fresh_store() -> object:
    yield
    timeline_store.cache_clear()


def at(second: int) -> Callable[[], float]:
    return lambda: EPOCH + second


def pulls(calls: Calls) -> list[str]:
    """The statements that compute a timeline from the posts tables."""
    return [statement.sql for statement in calls.statements if "from_moment" in statement.sql]


def newest_first(*posts: PostId) -> list[str]:
    return [post.public for post in sorted(posts, reverse=True)]


def test_home_is_my_posts_and_those_of_my_followees(world: None, drain: Drain) -> None:
    me, friend, stranger = make_accounts(3)
    follow(me, friend)
    mine, theirs, _ = publish(me), publish(friend), publish(stranger)
    assert first_page(me) == newest_first(mine, theirs)
    drain()
    assert first_page(me) == newest_first(mine, theirs)


def test_an_empty_home(world: None) -> None:
    (me,) = make_accounts(1)
    page = home_page(me, Window(20))
    assert (page.items, page.older, page.newer) == ([], None, None)


def test_a_live_timeline_gets_new_posts_by_push_alone(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    drain()
    first_page(me)
    post = publish(friend)
    drain()
    with count_calls() as calls:
        assert first_page(me) == [post.public]
    assert not pulls(calls)


def test_my_own_post_is_there_at_the_next_read(world: None) -> None:
    (me,) = make_accounts(1)
    assert first_page(me) == []
    post = publish(me)
    assert first_page(me) == [post.public], "no drain has run"


def test_follow_brings_older_posts_at_the_next_read(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    old = publish(friend)
    assert first_page(me) == []
    follow(me, friend)
    assert first_page(me) == [old.public], "no drain has run since the follow"
    drain()
    assert first_page(me) == [old.public]


def test_unfollow_takes_posts_out_at_the_next_read(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    publish(friend)
    drain()
    assert len(first_page(me)) == 1
    unfollow(me, friend)
    assert first_page(me) == [], "no drain has run since the unfollow"
    drain()
    live = find_live(me)
    assert live is not None
    assert list(live.packed) == [], "the entry is gone from the store too"


def test_a_push_that_comes_after_the_unfollow_is_not_shown(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    drain()
    first_page(me)
    publish(friend)
    unfollow(me, friend)
    drain()
    assert first_page(me) == []


def test_follow_again_brings_the_posts_of_in_between(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    drain()
    first_page(me)
    unfollow(me, friend)
    drain()
    missed = publish(friend)
    drain()
    follow(me, friend)
    drain()
    assert first_page(me) == [missed.public]


def test_a_deleted_post_is_gone_at_the_next_read(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    kept, gone = publish(friend), publish(friend)
    drain()
    assert len(first_page(me)) == 2
    delete_post(gone)
    assert first_page(me) == [kept.public], "no drain has run since the deletion"
    drain()
    assert first_page(me) == [kept.public]


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
    small_timelines: None, world: None, drain: Drain
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


def test_ties_within_a_second_are_exact(small_timelines: None, world: None, drain: Drain) -> None:
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


@pytest.mark.parametrize("cursor", ["x", "0" * 13, "0" * 15, "!" * 14, "É" * 14, "Z" * 14])
@pytest.mark.parametrize("name", ["max_id", "since_id", "min_id"])
def test_a_foreign_cursor_is_an_error(world: None, cursor: str, name: str) -> None:
    (me,) = make_accounts(1)
    with pytest.raises(InvalidCursor):
        home_page(me, Window(20)._replace(**{name: cursor}))


def test_a_flush_costs_only_time(small_timelines: None, world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend, clock_s=at(second)) for second in range(100, 140)]
    drain()
    page = home_page(me, Window(7))
    redis().call("FLUSHDB")
    rest = home_page(me, Window(40, max_id=page.older))
    assert ids_of(page.items) + ids_of(rest.items) == newest_first(*posts)
    late = publish(friend, clock_s=at(200))
    drain()
    assert first_page(me)[0] == late.public


def test_a_warm_page_costs_one_round_trip_and_no_query(world: None, drain: Drain) -> None:
    me, *friends = make_accounts(26)
    for friend in friends:
        follow(me, friend)
        publish(friend)
    drain()
    first_page(me)
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert (calls.statements, calls.round_trips) == ([], 1)
    forget_cards()
    known_posts.forget_all()
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert (calls.statements, calls.round_trips) == ([], 2), "without process memory one more"


def test_a_cold_page_asks_each_shard_a_few_questions(world: None, drain: Drain) -> None:
    """Following list, pull (index, tables), weeks, profiles, counts of both, standings, own marks,
    hot authors: none grows with the number of followees."""
    me, *friends = make_accounts(61)
    for friend in friends:
        follow(me, friend)
        publish(friend)
    drain()
    redis().call("FLUSHDB")
    forget_cards()
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert max(calls.sql.values()) <= 13, calls.sql


def test_what_lies_between_us_is_remembered_only_while_nothing_changes(
    world: None, drain: Drain
) -> None:
    me, friend, other = make_accounts(3)
    follow(me, friend)
    follow(me, other)
    kept = publish(other)
    publish(friend)
    drain()
    first_page(me)
    mute(me, friend)
    assert first_page(me) == [kept.public], "no drain has run"
    with count_calls() as calls:
        first_page(me)
    assert (calls.statements, calls.round_trips) == ([], 1)
    unmute(me, friend)
    assert len(first_page(me)) == 2
    block(friend, me)
    assert first_page(me) == [kept.public]


def test_a_mute_ends_by_the_clock_in_remembered_answers_too(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    post = publish(friend)
    drain()
    first_page(me)
    mute(me, friend, duration_s=10, clock_ms=lambda: 1_000)

    def shown(now_ms: int) -> list[str]:
        return ids_of(home_page(me, Window(20), clock_ms=lambda: now_ms).items)

    assert shown(10_999) == shown(10_999) == []
    with count_calls() as calls:
        assert shown(11_000) == [post.public]
    assert (calls.statements, calls.round_trips) == ([], 1)


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


def test_reposts_of_whom_i_do_not_want_to_see_are_not_shown(world: None, drain: Drain) -> None:
    me, friend, author = make_accounts(3)
    follow(me, friend)
    original = publish(author)
    drain()
    first_page(me)
    repost(friend, original)
    drain()
    assert len(first_page(me)) == 1
    for undone in (
        (
            partial(follow, me, friend, FollowWish(reposts=False)),
            partial(follow, me, friend, SHOWN),
        ),
        (partial(mute, me, author), partial(unmute, me, author)),
        (partial(mute, me, friend), partial(unmute, me, friend)),
        (partial(block, me, author), partial(unblock, me, author)),
        (partial(block, author, me), partial(unblock, author, me)),
    ):
        hide, show = undone
        hide()
        assert first_page(me) == [], hide
        show()
        assert len(first_page(me)) == 1, show


def test_a_following_list_that_ran_out_is_laid_again(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    publish(friend)
    drain()
    first_page(me)
    redis().call("DEL", FOLLOWING.key(me))
    first_page(me)
    with count_calls() as calls:
        assert len(first_page(me)) == 1
    assert (calls.statements, calls.round_trips) == ([], 1)
