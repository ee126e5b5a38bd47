"""A post with several sources is shown once, in the place of the newest."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from pytest_django import Settings

from infra.api.pages import Window
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost, undo_repost
from posts.ids import EPOCH, PostId
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.integration.timelines.broken_timelines import move_mark
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.world import find_live, make_accounts, publish
from timelines.feeds.ruled import MOST_REPOSTERS
from timelines.home.page import home_page
from timelines.stores.factory import timeline_store

Drain = Callable[[], int]


class Crowd:
    """I follow some friends; unrelated accounts post."""

    def __init__(self, friends: int) -> None:
        self.me, self.unrelated, *self.friends = make_accounts(friends + 2)
        for friend in self.friends:
            follow(self.me, friend)
        self.second = 100

    def clock_s(self) -> float:
        self.second += 10
        return EPOCH + self.second

    def post(self, author: int) -> PostId:
        return publish(author, clock_s=self.clock_s)

    def repost(self, by: int, post: PostId) -> PostId:
        return repost(by, post, clock_s=self.clock_s)

    def pages(self) -> list[tuple[str, list[int]]]:
        """All pages of three, by their cursors."""
        found: list[tuple[str, list[int]]] = []
        while items := self.items(3, **({"max_id": found[-1][0]} if found else {})):
            found += items
        return found

    def items(self, limit: int = 40, **cursor: str) -> list[tuple[str, list[int]]]:
        """(id, who reposted it), as the API says it."""
        page = home_page(self.me, Window(limit, **cursor))
        return [_item(orjson.loads(body)) for body in page.items]


def _item(status: dict[str, Any]) -> tuple[str, list[int]]:
    named = [int(account["id"]) for account in status.get("reblogged_by", [])]
    assert bool(named) == (status["reblog"] is not None)
    assert not named or status["account"] == status["reblogged_by"][0]
    return status["id"], named


@pytest.fixture
def crowd(world: None) -> Crowd:
    return Crowd(3)


@pytest.fixture
def tiny_timelines(settings: Settings) -> Iterator[None]:
    settings.TIMELINE_ENTRIES = 4
    timeline_store.cache_clear()
    yield
    timeline_store.cache_clear()


@pytest.mark.parametrize("is_live", [True, False])
def test_all_who_reposted_are_named_the_latest_first(crowd, drain: Drain, is_live) -> None:
    if is_live:
        crowd.items()
    post = crowd.post(crowd.unrelated)
    events = [crowd.repost(friend, post) for friend in crowd.friends]
    drain()
    assert crowd.items() == [(events[-1].public, crowd.friends[::-1])]


def test_page_is_the_same_wherever_the_low_water_mark_is(crowd, drain: Drain) -> None:
    """A timeline that was rebuilt, or cut, or kept for long: each has another mark."""
    crowd.items()
    one, two, three = crowd.friends
    posts = [crowd.post(author) for author in (crowd.unrelated, one, crowd.me)]
    for author in (one, two, three, one):
        crowd.post(author)
    for post, by in itertools.product(posts, crowd.friends):
        if by != post.author_id:
            crowd.repost(by, post)
            crowd.post(by)
    drain()
    move_mark(crowd.me, 0)
    expected, pages = crowd.items(), crowd.pages()
    assert max(len(named) for _, named in expected) == 3
    for second in range(100, crowd.second + 20, 10):
        move_mark(crowd.me, second)
        assert crowd.items() == expected, second
        assert crowd.pages() == pages, second


def test_who_takes_the_shown_repost_back_gives_way_to_the_next(crowd, drain: Drain) -> None:
    one, two, _ = crowd.friends
    post = crowd.post(crowd.unrelated)
    first, between = crowd.repost(one, post), crowd.post(crowd.friends[2])
    shown = crowd.repost(two, post)
    drain()
    assert crowd.items() == [(shown.public, [two, one]), (between.public, [])]
    undo_repost(two, post)
    assert crowd.items() == [(between.public, []), (first.public, [one])], "no drain has run"
    undo_repost(one, post)
    assert crowd.items() == [(between.public, [])]


def test_post_whose_repost_ends_between_two_pages_is_shown_again_and_never_lost(
    crowd, drain: Drain
) -> None:
    one, two, three = crowd.friends
    post = crowd.post(crowd.unrelated)
    older, between = crowd.repost(one, post), crowd.post(three)
    shown = crowd.repost(two, post)
    drain()
    whole = [(shown.public, [two, one]), (between.public, [])]
    assert crowd.items(1) == whole[:1]
    assert crowd.items(3, max_id=shown.public) == whole[1:], "once, while its sources stay"
    undo_repost(two, post)
    rest = crowd.items(3, max_id=shown.public)
    assert rest == [(between.public, []), (older.public, [one])], "at its older source"


def test_the_author_is_a_source_too(crowd, drain: Drain) -> None:
    author, friend, _ = crowd.friends
    post = crowd.post(author)
    between = crowd.post(author)
    event = crowd.repost(friend, post)
    drain()
    assert crowd.items() == [(event.public, [friend]), (between.public, [])]
    undo_repost(friend, post)
    assert crowd.items() == [(between.public, []), (post.public, [])]
    crowd.repost(friend, post)
    delete_post(post)
    drain()
    assert crowd.items() == [(between.public, [])]


@pytest.mark.parametrize("leave", ["unfollow", "mute", "block", "hide"])
def test_reposters_leave_the_list(crowd, drain: Drain, leave: str) -> None:
    one, two, _ = crowd.friends
    post = crowd.post(crowd.unrelated)
    first, _ = crowd.repost(one, post), crowd.repost(two, post)
    drain()
    crowd.items()
    acts = {
        "unfollow": unfollow,
        "mute": mute,
        "block": block,
        "hide": lambda me, friend: follow(me, friend, FollowOptions(reposts=False)),
    }
    acts[leave](crowd.me, two)
    assert crowd.items() == [(first.public, [one])], "no drain has run"


def test_an_original_that_arrives_after_its_repost_is_no_second_item(crowd, drain: Drain) -> None:
    author, friend, _ = crowd.friends
    crowd.items()
    post = crowd.post(author)
    event = crowd.repost(friend, post)
    store = timeline_store()
    assert find_live(crowd.me) is not None
    drain()
    late = find_live(crowd.me)
    assert late is not None
    turned = late._replace(data=b"".join(reversed(late.packed)))
    store.begin_build(crowd.me, 7)
    assert store.finish_build(crowd.me, 7, turned)
    assert crowd.items() == [(event.public, [friend])]


def test_pages_never_repeat_what_stands_above(crowd, drain: Drain, tiny_timelines: None) -> None:
    one, two, three = crowd.friends
    posts = [crowd.post(author) for author in (crowd.unrelated, three) * 3]
    for post in posts:
        crowd.repost(one, post)
    plain = [crowd.post(three) for _ in range(3)]
    last = [crowd.repost(two, post) for post in posts[::-1]]
    drain()
    expected = [post.public for post in (*last[::-1], *plain[::-1])]
    for limit in (1, 2, 5, 40):
        assert read_to_end(crowd.me, limit) == expected
        assert read_from_bottom(crowd.me, limit) == expected


def test_below_the_mark_all_who_reposted_are_named(crowd, drain: Drain, tiny_timelines) -> None:
    post = crowd.post(crowd.unrelated)
    events = [crowd.repost(friend, post) for friend in crowd.friends]
    for _ in range(8):
        crowd.post(crowd.friends[0])
    drain()
    first_page(crowd.me)
    assert crowd.items()[-1] == (events[-1].public, crowd.friends[::-1])
    undo_repost(crowd.friends[2], post)
    assert crowd.items()[-1] == (events[-2].public, crowd.friends[1::-1]), "no drain has run"


def test_a_few_are_named_and_no_more(world: None, drain: Drain) -> None:
    crowd = Crowd(MOST_REPOSTERS + 2)
    post = crowd.post(crowd.unrelated)
    events = [crowd.repost(friend, post) for friend in crowd.friends]
    drain()
    assert crowd.items() == [(events[-1].public, crowd.friends[: 1 - len(events) : -1][:10])]


def test_a_warm_page_of_merged_posts_costs_one_round_trip(crowd, drain: Drain) -> None:
    for _ in range(10):
        post = crowd.post(crowd.unrelated)
        for friend in crowd.friends:
            crowd.repost(friend, post)
    drain()
    for _ in range(2):  # the first one finds in Redis what the second one is made of
        assert len(crowd.items()) == 10
    with count_calls() as calls:
        assert len(crowd.items()) == 10
    assert (calls.statements, calls.round_trips) == ([], 1)
