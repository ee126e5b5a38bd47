"""Account lists over HTTP, as Mastodon's lists: permissions, answers and refusals."""

import orjson
import pytest

from relations.actions.follow import unfollow
from relations.lists.actions import lists
from tests.callers import Caller, ids_of, next_link
from tests.people import cast
from tests.world import publish

LISTS = "/api/v1/lists"


class Owner(Caller):
    """A caller with one list."""

    def __init__(self, account_id):
        super().__init__(account_id)
        self.account_id = account_id
        self.path = f"{LISTS}/{body(self.post(LISTS, {'title': 'close'}))['id']}"
        self.accounts = f"{self.path}/accounts"

    def send(self, method, path, sent=None):
        text = b"" if sent is None else orjson.dumps(sent)
        return self.client.generic(method, path, text, "application/json")

    def add(self, *ids):
        return self.post(self.accounts, {"account_ids": [str(i) for i in ids]})

    @property
    def members(self):
        return [int(i) for i in ids_of(self.get(self.accounts))]


def body(answer, status=200):
    assert answer.status_code == status, answer.content
    return orjson.loads(answer.content)


people = cast(6, follows=4)


@pytest.fixture
def owner(people):
    return Owner(people[0])


def test_lists_name_their_newest_members_if_one_asks(owner, people):
    assert "members_count" not in body(owner.get(LISTS))[0]
    path = f"{LISTS}?with_members=true"
    empty = {"members_count": 0, "sample_account_ids": []}
    assert body(owner.get(path)) == [body(owner.get(owner.path)) | empty]
    owner.add(*people[1:5])
    (found,) = body(owner.get(path))
    assert found["members_count"] == 4
    assert len(set(found["sample_account_ids"]) & set(map(str, people[1:5]))) == 3
    unfollow(people[0], people[1])
    (found,) = body(owner.get(path))
    assert found["members_count"] == 3
    assert str(people[1]) not in found["sample_account_ids"]
    assert owner.get(f"{LISTS}?with_members=perhaps").status_code == 422


def test_made_read_changed_and_deleted(owner):
    list_id = owner.path.removeprefix(f"{LISTS}/")
    entity = {"id": list_id, "title": "close", "replies_policy": "list", "exclusive": False}
    assert body(owner.get(owner.path)) == entity
    changed = body(owner.send("PUT", owner.path, {"title": " far ", "replies_policy": "none"}))
    assert changed == {**entity, "title": "far", "replies_policy": "none"}
    assert body(owner.send("PUT", owner.path, {})) == changed, "what is not sent stays"
    other = body(
        owner.post(LISTS, {"title": "x", "replies_policy": "followed", "exclusive": False})
    )
    assert other["replies_policy"] == "followed"
    assert body(owner.get(LISTS)) == [changed, other]
    assert body(owner.delete(owner.path)) == {}
    assert body(owner.get(LISTS)) == [other]
    for method in ("GET", "PUT", "DELETE"):
        body(owner.send(method, owner.path, {"title": "y"}), 404)


def test_members(owner, people):
    friends = people[1:5]
    assert body(owner.add(*friends[:3])) == {}
    assert body(owner.add(friends[0], friends[0])) == {}, "twice is once"
    assert owner.members == [friends[2], friends[1], friends[0]], "the newest follow first"
    assert body(owner.get(f"/api/v1/accounts/{friends[0]}/lists"))[0]["title"] == "close"
    assert body(owner.get(f"/api/v1/accounts/{friends[3]}/lists")) == []
    for _ in range(2):
        assert body(owner.send("DELETE", owner.accounts, {"account_ids": [friends[0]]})) == {}
    assert body(owner.delete(f"{owner.accounts}?account_ids[]={friends[1]}")) == {}
    assert owner.members == [friends[2]]
    unfollow(owner.account_id, friends[2])
    assert owner.members == []


def test_members_are_paged_both_ways(owner, people):
    owner.add(*people[1:5])
    pages, path = [], f"{owner.accounts}?limit=3"
    while path:
        answer = owner.get(path)
        pages.append([int(i) for i in ids_of(answer)])
        link, path = answer["Link"], next_link(answer)
    newest_first = people[4:0:-1]
    assert pages == [newest_first[:3], newest_first[3:]]
    above = link[link.index("min_id=") + 7 : link.index(">")]
    assert ids_of(owner.get(owner.accounts, {"limit": 2, "min_id": above})) == [
        str(i) for i in newest_first[1:3]
    ]
    everybody = owner.get(owner.accounts, {"limit": 0})
    assert [int(i) for i in ids_of(everybody)] == newest_first
    assert "Link" not in everybody


def test_timeline(owner, people):
    owner.add(people[1])
    posts = [publish(people[1]).public for _ in range(5)]
    publish(people[2])
    timeline = owner.path.replace("/lists/", "/timelines/list/")
    found, path = [], f"{timeline}?limit=2"
    while path:
        answer = owner.get(path)
        found += ids_of(answer)
        path = next_link(answer)
    assert found == posts[::-1]
    assert ids_of(owner.get(timeline, {"min_id": posts[1], "limit": 2})) == [posts[3], posts[2]]
    owner.delete(owner.path)
    body(owner.get(timeline), 404)


def test_another_accounts_list_is_not_there(owner, people):
    unrelated = Caller(people[5])
    timeline = owner.path.replace("/lists/", "/timelines/list/")
    for answer in (
        *(unrelated.get(path) for path in (owner.path, owner.accounts, timeline)),
        unrelated.delete(owner.path),
        unrelated.delete(f"{owner.accounts}?account_ids[]={people[0]}"),
        unrelated.post(owner.accounts, {"account_ids": [people[0]]}),
        unrelated.client.put(owner.path, b'{"title":"x"}', "application/json"),
    ):
        assert body(answer, 404) == {"error": "Record not found"}
    assert body(unrelated.get(LISTS)) == []


def test_what_is_no_list_is_refused(owner):
    for sent in [
        {},
        None,
        {"title": ""},
        {"title": "  \n"},
        {"title": None},
        {"title": 7},
        {"title": ["x"]},
        {"title": {"x": 1}},
        {"title": "x" * 257},
        {"title": "x\u0000"},
        {"title": "x", "replies_policy": "some"},
        {"title": "x", "replies_policy": ["list"]},
        {"title": "x", "replies_policy": 0},
        {"title": "x", "replies_policy": ""},
        {"title": "x", "exclusive": "maybe"},
        {"title": "x", "exclusive": [False]},
    ]:
        assert "error" in body(owner.post(LISTS, sent), 422), sent
        if sent and sent.get("title", 0) is not None:
            assert "error" in body(owner.send("PUT", owner.path, sent), 422), sent
        assert [one["title"] for one in body(owner.get(LISTS))] == ["close"], sent


def test_longest_title(owner):
    assert body(owner.post(LISTS, {"title": "\u00e9" * 256}))["title"] == "\u00e9" * 256


def test_what_is_no_account_is_not_put_on(owner, people):
    for ids, status in [
        (["x"], 404), ([""], 422), ([None], 404), ([True], 404), ([{}], 404), ([["1"]], 404),
        (["\u0661"], 404), ([-1], 404), ([1.5], 404), (["1\u0000"], 404), (["9" * 30], 404),
        ({"a": 1}, 422), ("x", 404), (2**31, 404), (["1"] * 501, 422), ([], 422), (None, 422),
    ]:  # fmt: skip
        assert owner.post(owner.accounts, {"account_ids": ids}).status_code == status, (ids, status)
        if isinstance(ids, list) and status == 404:
            assert (
                owner.post(owner.accounts, {"account_ids": [people[1], *ids]}).status_code == 404
            ), (
                ids,
                status,
            )
        taken_off = owner.send("DELETE", owner.accounts, {"account_ids": ids})
        is_refused = ids and ids != [""] and status == 422
        assert taken_off.status_code == (422 if is_refused else 200), "who is not on it"
        assert owner.members == [], (ids, status)


def test_who_is_not_followed_is_not_put_on(owner, people):
    for other in (people[5], people[0]):
        assert body(owner.add(people[1], other), 404) == {"error": "Record not found"}
    assert owner.members == []


def test_answers_name_the_cap(owner, monkeypatch):
    monkeypatch.setattr(lists, "MOST_LISTS", 1)
    assert "maximum number" in body(owner.post(LISTS, {"title": "x"}), 422)["error"]


def test_lists_with_an_account_that_does_not_exist(owner):
    assert owner.get("/api/v1/accounts/999999/lists").status_code == 404
