"""Post ids over HTTP: answers are decimal; requests may use decimal, base36 or made-up numbers."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from posts.ids import LAST, PostId
from relations.actions.block import block
from relations.actions.follow import follow
from tests.callers import Caller, ids_of, next_link
from tests.world import publish

STATUSES = "/api/v1/statuses"
PARTS = ("", "/context", "/reblogged_by", "/favourited_by")
ACTS = ("reblog", "unreblog", "favourite", "unfavourite", "bookmark", "unbookmark")
BEYOND = [str(LAST.number + 1), "9" * 23, "9" * 40]


@pytest.fixture
def posts(people: list[int], drain: Callable[[], int]) -> list[PostId]:
    """Four posts of a followee, oldest first."""
    follow(people[0], people[1])
    made = [publish(people[1], clock_s=lambda n=n: 1_790_000_000 + n) for n in range(4)]
    drain()
    return made


def forms(post_id: PostId) -> list[str]:
    return [post_id.public, post_id.base36, "000" + post_id.public]


def timelines(people: list[int], me: Caller) -> list[str]:
    account_list = me.post("/api/v1/lists", {"title": "a"}).json()["id"]
    me.post(f"/api/v1/lists/{account_list}/accounts", {"account_ids": [str(people[1])]})
    return [
        "/api/v1/timelines/home",
        "/api/v1/timelines/public",
        f"/api/v1/timelines/list/{account_list}",
        f"/api/v1/accounts/{people[1]}/statuses",
    ]


def strings_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings_in(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings_in(part)]
    return [value] if isinstance(value, str) else []


def test_every_answer_has_decimal_ids_only(
    people: list[int], me: Caller, posts: list[PostId]
) -> None:
    post = posts[0]
    answer = me.post(STATUSES, {"status": "yes", "in_reply_to_id": post.public}).json()
    me.post(f"{STATUSES}/{post.public}/favourite")
    repost = me.post(f"{STATUSES}/{post.public}/reblog").json()
    assert answer["in_reply_to_id"] == repost["reblog"]["id"] == post.public
    own = [PostId.from_public(one["id"]) for one in (answer, repost)]
    paths = [f"{STATUSES}/{post.public}{part}" for part in PARTS]
    paths += [*timelines(people, me), "/api/v1/favourites", "/api/v1/timelines/home/news"]
    for path in paths:
        got = me.get(path)
        assert got.status_code == 200
        base36 = [i.base36 for i in (*posts, *own)]
        for text in strings_in(orjson.loads(got.content)):
            assert not [i for i in base36 if i in text], path
    status = me.get(f"{STATUSES}/{post.base36}").json()
    assert status["uri"] == status["url"] == f"http://localhost:8000/statuses/{post.public}"


def test_a_client_that_compares_integers_sees_page_order(me: Caller, posts: list[PostId]) -> None:
    numbers = [int(i) for i in ids_of(me.get("/api/v1/timelines/home"))]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers == [post.number for post in reversed(posts)]


def test_statuses_are_found_by_both_forms(me: Caller, posts: list[PostId]) -> None:
    post = posts[0]
    for text in forms(post):
        for part in PARTS:
            assert me.get(f"{STATUSES}/{text}{part}").status_code == 200
        assert me.get(f"{STATUSES}/{text}").json()["id"] == post.public
        for act in ACTS:
            acted = me.post(f"{STATUSES}/{text}/{act}").json()
            assert (acted["reblog"] or acted)["id"] == post.public
        reply = me.post(STATUSES, {"status": "yes", "in_reply_to_id": text}).json()
        assert reply["in_reply_to_id"] == post.public
        reports = {"account_id": str(post.author_id), "status_ids": [text]}
        assert me.post("/api/v1/reports", reports).json()["status_ids"] == [post.public]
        own = PostId.from_public(reply["id"])
        gone = forms(own)[forms(post).index(text)]
        assert me.delete(f"{STATUSES}/{gone}").json()["id"] == own.public


def test_integers_in_json_are_ids(me: Caller, posts: list[PostId]) -> None:
    """Ids are above 64 bits."""
    post = posts[0]
    body = b'{"status":"yes","in_reply_to_id":%d}' % post.number
    reply = me.client.post(STATUSES, body, "application/json").json()
    assert reply["in_reply_to_id"] == post.public
    body = b'{"home":{"last_read_id":%d}}' % post.number
    marked = me.client.post("/api/v1/markers", body, "application/json").json()
    assert marked["home"]["last_read_id"] == post.public
    body = b'{"account_id":%d,"status_ids":[%d]}' % (post.author_id, post.number)
    report = me.client.post("/api/v1/reports", body, "application/json").json()
    assert report["status_ids"] == [post.public]


def test_made_up_numbers_in_a_path_are_404(me: Caller, posts: list[PostId]) -> None:
    for text in ["1", "0", "7" * 15, "9" * 13, *BEYOND]:
        for part in PARTS:
            assert me.get(f"{STATUSES}/{text}{part}").status_code == 404, text
        for act in ACTS:
            assert me.post(f"{STATUSES}/{text}/{act}").status_code == 404, text
        assert me.delete(f"{STATUSES}/{text}").status_code == 404, text
        assert me.post(STATUSES, {"status": "x", "in_reply_to_id": text}).status_code == 404, text
        report = {"account_id": str(posts[0].author_id), "status_ids": [text]}
        assert me.post("/api/v1/reports", report).status_code == 404, text


def read_above(me: Caller, path: str, name: str, cursor: str | int) -> list[str]:
    """The page above a cursor, without posts that arrived late and are below it (T16)."""
    above = PostId.from_cursor(str(cursor)).number
    return [i for i in ids_of(me.get(path, {name: cursor})) if int(i) > above]


def test_cursors_of_both_forms_and_made_up_numbers(
    people: list[int], me: Caller, posts: list[PostId]
) -> None:
    ids = [post.public for post in reversed(posts)]
    middle = posts[1].number
    for path in timelines(people, me):
        for text in forms(posts[1]):
            assert ids_of(me.get(path, {"max_id": text})) == ids[3:]
            assert read_above(me, path, "min_id", text) == ids[:2]
            assert read_above(me, path, "since_id", text) == ids[:2]
        for number, newer in ((middle - 1, ids[:3]), (middle + 1, ids[:2])):
            assert read_above(me, path, "min_id", number) == newer
            assert read_above(me, path, "since_id", number) == newer
            assert ids_of(me.get(path, {"max_id": number})) == ids[len(newer) :]
        for text in ("0", "1"):
            assert ids_of(me.get(path, {"max_id": text})) == []
            assert read_above(me, path, "min_id", text) == ids
            assert read_above(me, path, "since_id", text) == ids
        for text in BEYOND:
            assert ids_of(me.get(path, {"max_id": text})) == ids
            assert read_above(me, path, "min_id", text) == []
            assert read_above(me, path, "since_id", text) == []


def test_made_up_numbers_are_cursors_of_every_other_list(
    people: list[int], me: Caller, posts: list[PostId]
) -> None:
    block(people[0], people[2])
    me.post(f"{STATUSES}/{posts[0].public}/favourite")
    paths = [f"{STATUSES}/{posts[0].public}{part}" for part in PARTS[2:]]
    paths += ["/api/v1/favourites", "/api/v1/bookmarks", "/api/v1/blocks", "/api/v1/strikes"]
    paths += [f"/api/v1/accounts/{people[1]}/{name}" for name in ("followers", "following")]
    for path in paths:
        whole = me.get(path).content
        for text in ("0", "1", "9" * 40):
            for name in ("max_id", "min_id", "since_id"):
                page = me.get(path, {name: text})
                is_whole = (name == "max_id") == (text == "9" * 40)
                assert (page.status_code, page.content) == (200, whole if is_whole else b"[]")


def test_links_are_decimal_and_lead_on(me: Caller, posts: list[PostId]) -> None:
    first = me.get("/api/v1/timelines/home", {"limit": 2})
    older = next_link(first)
    assert older is not None
    assert f"max_id={posts[2].public}" in older
    assert f"min_id={posts[3].public}" in first["Link"]
    assert ids_of(me.get(older)) == [post.public for post in reversed(posts[:2])]


def test_news_since_any_number(people: list[int], me: Caller, posts: list[PostId]) -> None:
    news = "/api/v1/timelines/home/news"
    for text in ("0", *forms(posts[0])):
        assert me.get(news, {"since_id": text}).json()["new"] is True
    as_of = me.get(news).json()["as_of"]
    assert PostId.from_public(as_of).public == as_of
    for text in BEYOND:
        assert me.get(news, {"since_id": text}).json()["new"] is False
