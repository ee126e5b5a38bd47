"""A page around an id: where the reader stopped, with the entries above and below it.

A page between two cursors: `min_id` and `max_id` in one request bound it on both sides.
"""

import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from infra.caching.client import redis
from posts.actions.delete_post import delete_post
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.integration.timelines.homes import pulls
from tests.integration.timelines.indexed import arrive_on_time
from tests.people import cast
from tests.world import drain_all, make_account, make_accounts, publish

HOME = "/api/v1/timelines/home"


people = cast(2)


@pytest.fixture
def posts(people: list[int], drain: Callable[[], int]) -> list[str]:
    """Thirty posts of a followee, newest first."""
    follow(*people)
    made = [publish(people[1], clock_s=lambda n=n: EPOCH + 100 + n) for n in range(30)]
    drain()
    arrive_on_time()
    return [post.public for post in reversed(made)]


def test_half_of_the_page_is_newer(me: Caller, posts: list[str]) -> None:
    for place, limit, first, last in [
        (15, 8, 11, 19),  # four newer ones, then the id and three older ones
        (15, 7, 12, 19),
        (15, 1, 15, 16),
        (2, 8, 0, 8),  # with fewer newer ones there are more older ones
        (0, 8, 0, 8),
        (28, 8, 24, 30),  # the list ends
    ]:
        answer = me.get(HOME, {"around_id": posts[place], "limit": limit})
        assert ids_of(answer) == posts[first:last], (place, limit)
        links = [f'min_id={posts[first]}>; rel="prev"']
        links += [f'max_id={posts[last - 1]}>; rel="next"'] if last < 30 else []
        url = f"<http://localhost:8000{HOME}?limit={limit}&"
        assert {*answer["Link"].split(", ")} == {url + link for link in links}, (place, limit)


def test_the_links_lead_through_the_whole_timeline(me: Caller, posts: list[str]) -> None:
    answer = me.get(HOME, {"around_id": posts[12], "limit": 4})
    found = ids_of(answer)
    while path := next_link(answer):
        answer = me.get(path)
        found += ids_of(answer)
    newer = ids_of(me.get(HOME, {"min_id": found[0], "max_id": "9" * 20, "limit": 40}))
    assert newer + found == posts


def test_the_page_is_around_the_place_of_a_deleted_post(
    me: Caller, posts: list[str], drain: Callable[[], int]
) -> None:
    delete_post(PostId.from_public(posts[15]))
    drain()
    assert ids_of(me.get(HOME, {"around_id": posts[15], "limit": 4})) == [
        *posts[13:15],
        *posts[16:18],
    ]


def test_it_costs_what_a_page_costs(me: Caller, posts: list[str]) -> None:
    me.get(HOME)
    with count_calls() as plain:
        me.get(HOME, {"limit": 8})
    with count_calls() as around:
        me.get(HOME, {"around_id": posts[15], "limit": 8})
    assert around.sql == plain.sql
    assert not pulls(around)


def test_around_any_place_before_and_after_all_posts(me: Caller, posts: list[str]) -> None:
    assert ids_of(me.get(HOME, {"around_id": "0", "limit": 4})) == posts[-2:]
    assert ids_of(me.get(HOME, {"around_id": "9" * 30, "limit": 4})) == posts[:4]
    redis().call("FLUSHDB")
    assert ids_of(me.get(HOME, {"around_id": posts[15], "limit": 4})) == posts[13:17]


def test_it_cannot_be_combined_with_another_cursor(me: Caller) -> None:
    for other in ["max_id", "since_id", "min_id"]:
        answer = me.get(HOME, {"around_id": "7", other: "7"})
        assert answer.status_code == 422, other
        assert "around_id" in answer.json()["error"], other


ITEMS = 5


@pytest.fixture
def busy(world: None) -> int:
    """An account with followees, followers, posts, favourites and a list."""
    busy, others, now = make_account(), make_accounts(ITEMS), time.time()
    caller = Caller(busy)
    list_id = caller.post("/api/v1/lists", {"title": "all"}).json()["id"]
    for n, other in enumerate(others):
        follow(busy, other)
        follow(other, busy)
        publish(busy, clock_s=lambda n=n: now - 100 + n)
        post = publish(other, clock_s=lambda n=n: now - 50 + n)
        drain_all()
        caller.post(f"/api/v1/statuses/{post.public}/favourite")
    caller.post(f"/api/v1/lists/{list_id}/accounts", {"account_ids": list(map(str, others))})
    drain_all()
    return busy


def test_both_cursors_bound_a_page(busy: int) -> None:
    for path in [
        "/api/v1/timelines/home",
        "/api/v1/timelines/public",
        "/api/v1/timelines/list/{list}",
        "/api/v1/accounts/{me}/statuses",
        "/api/v1/accounts/{me}/followers",
        "/api/v1/accounts/{me}/following",
        "/api/v1/favourites",
    ]:
        caller = Caller(busy)
        (list_,) = ids_of(caller.get("/api/v1/lists"))
        path = path.format(me=busy, list=list_)
        ids, cursors = walk(caller, path)
        inside = caller.get(f"{path}?max_id={cursors[0]}&min_id={cursors[3]}")
        assert ids_of(inside) == ids[1:3], path
        assert ids_of(caller.get(f"{path}?max_id={cursors[3]}&min_id={cursors[0]}")) == [], path


def walk(caller: Caller, path: str) -> tuple[list[str], list[str]]:
    """The first ids of a list, newest first, and the cursor of each."""
    ids: list[str] = []
    cursors: list[str] = []
    while len(ids) < ITEMS - 1:
        after = f"&max_id={cursors[-1]}" if cursors else ""
        answer = caller.get(f"{path}?limit=1{after}")
        ids += ids_of(answer)
        cursors += parse_qs(urlsplit(next_link(answer) or "").query)["max_id"]
    return ids, cursors
