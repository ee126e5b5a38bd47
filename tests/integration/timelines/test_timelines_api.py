"""Home and author timelines over HTTP.

Home timelines: the posts on the page at the next read after each action.
"""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import orjson
import pytest
from django.db import OperationalError
from django.test import Client

from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.keys import key
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.types import FollowOptions
from tests.callers import Caller, ids_of, next_link
from tests.integration.timelines.homes import first_page, newest_first
from tests.world import find_live, make_accounts, publish
from timelines.actions import change_following
from timelines.home.page import home_page
from timelines.stores.packed import FAMILY

HOME = "/api/v1/timelines/home"


@pytest.fixture
def posts(people: list[int], drain: Callable[[], int]) -> list[str]:
    """Fifty posts of a followee, newest first."""
    follow(people[0], people[1])
    made = [publish(people[1], clock_s=lambda n=n: EPOCH + 100 + n) for n in range(50)]
    drain()
    return [post.public for post in reversed(made)]


def read_to_end(caller: Caller, path: str) -> list[str]:
    found = []
    while path:
        answer = caller.get(path)
        found += ids_of(answer)
        path = next_link(answer)
    return found


def test_pages_of_an_author(people: list[int], posts: list[str]) -> None:
    path = f"/api/v1/accounts/{people[1]}/statuses"
    assert read_to_end(Caller(people[0]), f"{path}?limit=40") == posts
    assert ids_of(Client().get(path)) == posts[:20], "author timelines are public"
    for name in ("pinned", "only_media"):
        assert ids_of(Client().get(path, {name: "true"})) == [], name
        assert len(ids_of(Client().get(path, {name: "false"}))) == 20, name


def test_pages_of_home(people: list[int], posts: list[str]) -> None:
    caller = Caller(people[0])
    assert read_to_end(caller, f"{HOME}?limit=7") == posts
    for limit, size in (("", 20), ("0", 1), ("3", 3), ("9" * 9, 40)):
        assert len(ids_of(caller.get(HOME, {"limit": limit} if limit else {}))) == size, limit
    answer = caller.get(HOME, {"limit": 3, "max_id": posts[9]})
    assert ids_of(answer) == posts[10:13]
    url = f"http://localhost:8000{HOME}?limit=3"
    assert answer["Link"] == (
        f'<{url}&max_id={posts[12]}>; rel="next", <{url}&min_id={posts[10]}>; rel="prev"'
    )
    # The first and the last id there can be.
    assert ids_of(caller.get(HOME, {"max_id": "z" * 12 + "zz"})) == posts[:20]
    assert ids_of(caller.get(HOME, {"max_id": "0" * 14})) == []
    # Such an id is of a server whose clock is ahead: what arrived late just now is returned again.
    assert set(ids_of(caller.get(HOME, {"min_id": "z" * 14}))) <= set(posts)
    assert ids_of(caller.get(HOME, {"min_id": "0" * 14, "limit": 2})) == posts[-2:]


def test_a_page_is_whole_statuses(people: list[int], posts: list[str]) -> None:
    answer = Caller(people[0]).get(HOME, {"limit": 1})
    (status,) = orjson.loads(answer.content)
    assert status["account"]["id"] == str(people[1])
    assert status["account"]["statuses_count"] == 50
    assert status["content"] == "<p>hello</p>"
    assert answer["Content-Length"] == str(len(answer.content))
    assert answer["Content-Type"].startswith("application/json")


def test_garbage_in_redis_is_not_a_500(people: list[int], posts: list[str]) -> None:
    """A store of another version, or cut short: the timeline is computed again."""
    caller = Caller(people[0])
    caller.get(HOME)
    for garbage in (b"", b"short", b"x" * 1_000):
        redis().call("SET", key(FAMILY, people[0]), garbage)
        assert ids_of(caller.get(HOME)) == posts[:20]


def test_a_post_of_the_largest_account_id() -> None:
    assert PostId.from_public("zzzzzzzzzzzz" + "zz").author_id == 36**6 - 1


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
