"""Home and author timelines over HTTP."""

from collections.abc import Callable

import orjson
import pytest
from django.test import Client

from infra.caching.client import redis
from infra.caching.keys import key
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow
from tests.callers import Caller, ids_of, next_link
from tests.world import publish
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
