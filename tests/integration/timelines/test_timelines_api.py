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
from tests.world import make_accounts, publish
from timelines.stores.packed import FAMILY

HOME = "/api/v1/timelines/home"


@pytest.fixture
def people(world: None) -> list[int]:
    return make_accounts(3)


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


def test_home_by_its_links(people: list[int], posts: list[str]) -> None:
    assert read_to_end(Caller(people[0]), f"{HOME}?limit=7") == posts


def test_an_authors_posts_by_their_links(people: list[int], posts: list[str]) -> None:
    path = f"/api/v1/accounts/{people[1]}/statuses"
    assert read_to_end(Caller(people[0]), f"{path}?limit=40") == posts
    assert ids_of(Client().get(path)) == posts[:20], "author timelines are public"


@pytest.mark.parametrize("name", ["pinned", "only_media"])
def test_posts_that_are_not_pinned_and_without_media_are_left_out(
    people: list[int], posts: list[str], name: str
) -> None:
    path = f"/api/v1/accounts/{people[1]}/statuses"
    assert ids_of(Client().get(path, {name: "true"})) == []
    assert len(ids_of(Client().get(path, {name: "false"}))) == 20


def test_both_links_lead_where_they_say(people: list[int], posts: list[str]) -> None:
    answer = Caller(people[0]).get(HOME, {"limit": 3, "max_id": posts[9]})
    assert ids_of(answer) == posts[10:13]
    url = f"http://localhost:8000{HOME}?limit=3"
    assert answer["Link"] == (
        f'<{url}&max_id={posts[12]}>; rel="next", <{url}&min_id={posts[10]}>; rel="prev"'
    )


def test_a_page_is_whole_statuses(people: list[int], posts: list[str]) -> None:
    answer = Caller(people[0]).get(HOME, {"limit": 1})
    (status,) = orjson.loads(answer.content)
    assert status["account"]["id"] == str(people[1])
    assert status["account"]["statuses_count"] == 50
    assert status["content"] == "<p>hello</p>"
    assert answer["Content-Length"] == str(len(answer.content))
    assert answer["Content-Type"].startswith("application/json")


@pytest.mark.parametrize(("limit", "size"), [("", 20), ("0", 1), ("3", 3), ("9" * 9, 40)])
def test_limits(people: list[int], posts: list[str], limit: str, size: int) -> None:
    query = {"limit": limit} if limit else {}
    assert len(ids_of(Caller(people[0]).get(HOME, query))) == size


@pytest.mark.parametrize("name", ["max_id", "since_id", "min_id"])
@pytest.mark.parametrize("value", ["-1", "x" * 14 + "y", "\x00" * 14, "1" * 41, "É"])
def test_a_malformed_cursor_is_422(people: list[int], name: str, value: str) -> None:
    answer = Caller(people[0]).get(HOME, {name: value})
    assert (answer.status_code, orjson.loads(answer.content)) == (
        422,
        {"error": "Cursor is not valid for this list"},
    )


def test_the_first_and_the_last_id_there_can_be(people: list[int], posts: list[str]) -> None:
    caller = Caller(people[0])
    assert ids_of(caller.get(HOME, {"max_id": "z" * 12 + "zz"})) == posts[:20]
    assert ids_of(caller.get(HOME, {"max_id": "0" * 14})) == []
    assert ids_of(caller.get(HOME, {"min_id": "z" * 14})) == []
    assert ids_of(caller.get(HOME, {"min_id": "0" * 14, "limit": 2})) == posts[-2:]


@pytest.mark.parametrize("limit", ["x", "-1", "1.5", "٣", "9" * 30])
def test_a_malformed_limit_is_422(people: list[int], limit: str) -> None:
    assert Caller(people[0]).get(HOME, {"limit": limit}).status_code == 422


def test_who_may_not(people: list[int]) -> None:
    assert Client().get(HOME).status_code == 401
    assert Client(headers={"Authorization": "Bearer x"}).get(HOME).status_code == 401
    assert Caller(people[0], "write").get(HOME).status_code == 403
    assert Caller(None, "read").get(HOME).status_code == 422
    assert Caller(people[0]).post(HOME).status_code == 405


@pytest.mark.parametrize(
    "account", ["999999", "0", "99999999999", "x", "1%00", "18446744073709551616"]
)
def test_an_unknown_author_is_404(people: list[int], account: str) -> None:
    answer = Caller(people[0]).get(f"/api/v1/accounts/{account}/statuses")
    assert answer.status_code == 404
    assert "error" in orjson.loads(answer.content)


def test_garbage_in_redis_is_not_a_500(people: list[int], posts: list[str]) -> None:
    """A store of another version, or cut short: the timeline is computed again."""
    caller = Caller(people[0])
    caller.get(HOME)
    for garbage in (b"", b"short", b"x" * 1_000):
        redis().call("SET", key(FAMILY, people[0]), garbage)
        assert ids_of(caller.get(HOME)) == posts[:20]


def test_a_post_of_the_largest_account_id() -> None:
    assert PostId.from_public("zzzzzzzzzzzz" + "zz").author_id == 36**6 - 1
