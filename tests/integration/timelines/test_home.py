"""Home timelines: the posts on the page at the next read after each action."""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

from django.db import OperationalError

from infra.api.pages import Window
from posts.actions.repost import repost
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.types import FollowOptions
from tests.integration.timelines.homes import first_page, newest_first
from tests.world import find_live, make_accounts, publish
from timelines.actions import change_following
from timelines.home.page import home_page

Drain = Callable[[], int]
SHOWN = FollowOptions(reposts=True)


def test_home_is_my_posts_and_those_of_my_followees(world: None, drain: Drain) -> None:
    me, friend, unrelated = make_accounts(3)
    follow(me, friend)
    mine, theirs, _ = publish(me), publish(friend), publish(unrelated)
    assert first_page(me) == newest_first(mine, theirs)
    drain()
    assert first_page(me) == newest_first(mine, theirs)


def test_an_empty_home(world: None) -> None:
    (me,) = make_accounts(1)
    page = home_page(me, Window(20))
    assert (page.items, page.older, page.newer) == ([], None, None)


def test_follow_brings_posts_at_the_next_read_while_their_shard_hangs(
    world: None, drain: Drain
) -> None:
    """They come from the index on my own shard, because my following list is known to be new."""
    me, friend = make_accounts(2)
    old = publish(friend)
    drain()
    assert [first_page(me) for _ in range(2)] == [[], []], "what I follow is in process memory"
    with patch.object(
        change_following, "list_newest_entries", side_effect=OperationalError("hangs")
    ):
        follow(me, friend)
        assert first_page(me) == [old.public]
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
            partial(follow, me, friend, FollowOptions(reposts=False)),
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
