"""Reposts, replies, favourites and bookmarks through HTTP, as Mastodon has them."""

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from mastodon.return_types import Context, Status
from mastodon.types_base import try_cast

from posts.actions.delete_post import delete_post
from posts.api import schema
from posts.ids import PostId
from posts.queries import context
from relations.actions.block import block, unblock
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.truth import assert_drained_truth, everything_written
from tests.world import make_accounts, publish

STATUSES = "/api/v1/statuses"
DOING = ("reblog", "favourite", "bookmark")
FLAGS = {"reblog": "reblogged", "favourite": "favourited", "bookmark": "bookmarked"}
COUNTS = {"reblog": "reblogs_count", "favourite": "favourites_count"}
GONE = {"error": "Record not found"}


@pytest.fixture
def people(world):
    return make_accounts(3)


@pytest.fixture
def ann(people):
    return Caller(people[0])


@pytest.fixture
def bob(people):
    return Caller(people[1])


@pytest.fixture
def original(people):
    return publish(people[0], "the original").public


def do(caller: Caller, act: str, post: str, status: int = 200):
    answer = caller.post(f"{STATUSES}/{post}/{act}")
    assert answer.status_code == status, answer.content
    return answer.json()


def see(caller: Caller, post: str):
    answer = caller.get(f"{STATUSES}/{post}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def reply(caller: Caller, post: str, text: str = "so?"):
    answer = caller.post(STATUSES, {"status": text, "in_reply_to_id": post})
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize("act", DOING)
def test_done_and_undone_at_once_to_whoever_does_it(act, bob, ann, original, drain):
    done = do(bob, act, original)
    shown = done["reblog"] or done
    assert (shown["id"], shown[FLAGS[act]]) == (original, True)
    assert shown.get(COUNTS.get(act), 1) == 1, "no drain has run"
    assert see(bob, original)[FLAGS[act]]
    assert not see(ann, original)[FLAGS[act]]
    drain()
    assert see(ann, original).get(COUNTS.get(act), 1) == 1
    undone = do(bob, f"un{act}", original)
    assert (undone["id"], undone[FLAGS[act]], undone["reblog"]) == (original, False, None)
    assert undone.get(COUNTS.get(act), 0) == 0
    drain()
    assert not see(bob, original)[FLAGS[act]]
    assert see(ann, original).get(COUNTS.get(act), 0) == 0
    assert_drained_truth()


def test_repost_has_an_id_of_its_own_and_the_whole_post_in_it(people, bob, original, drain):
    drain()
    made = do(bob, "reblog", original)
    assert made["id"] != original
    assert (made["account"]["id"], made["content"]) == (str(people[1]), "")
    assert (made["reblog"]["id"], made["reblog"]["reblog"]) == (original, None)
    assert made["reblog"]["account"]["id"] == str(people[0])
    assert isinstance(try_cast(Status, made), Status)
    drain()
    again = see(bob, made["id"])
    assert again["reblog"] == see(bob, original) == made["reblog"]
    assert Client().get(f"{STATUSES}/{made['id']}").json()["reblog"]["reblogged"] is False


@pytest.mark.parametrize("act", DOING)
def test_of_a_repost_the_original_is_meant(act, people, bob, original):
    event = do(bob, "reblog", original)["id"]
    third = Caller(people[2])
    done = do(third, act, event)
    assert (done["reblog"] or done)["id"] == original
    assert do(third, f"un{act}", event)["id"] == original
    assert not see(third, original)[FLAGS[act]]


def test_reply_names_what_it_answers(people, ann, bob, original, drain):
    made = reply(bob, original)
    assert (made["in_reply_to_id"], made["in_reply_to_account_id"]) == (original, str(people[0]))
    drain()
    assert see(ann, original)["replies_count"] == 1
    bob.delete(f"{STATUSES}/{made['id']}")
    drain()
    assert see(ann, original)["replies_count"] == 0
    event = do(bob, "reblog", original)["id"]
    assert reply(bob, event)["in_reply_to_id"] == original


@pytest.mark.parametrize("act", DOING)
def test_what_one_may_not_see_is_404(act, people, bob, original):
    ids = people[0], people[1]
    block(*ids)
    blocked = everything_written()
    assert do(bob, act, original, 404) == GONE
    assert everything_written() == blocked
    unblock(*ids)
    block(*ids[::-1])
    do(bob, act, original, 404)
    unblock(*ids[::-1])
    do(bob, act, original)
    do(bob, f"un{act}", original)
    delete_post(_id(original))
    gone = everything_written()
    for post in (original, "0" * 14):
        do(bob, act, post, 404)
        do(bob, f"un{act}", post, 404)
    assert everything_written() == gone


def _id(text: str):
    return PostId.from_public(text)


def test_blocked_posts_are_404_to_read_and_to_reply_to(people, bob, original):
    event = do(Caller(people[2]), "reblog", original)["id"]
    block(people[0], people[1])
    for post in (original, event):
        assert bob.get(f"{STATUSES}/{post}").status_code == 404
        answer = bob.post(STATUSES, {"status": "so?", "in_reply_to_id": post})
        assert answer.status_code == 404
        assert "reply to does not appear" in answer.json()["error"]
    assert Client().get(f"{STATUSES}/{event}").status_code == 200


@pytest.mark.parametrize("act", DOING)
def test_undoing_works_after_a_block_and_after_deletion(act, people, bob, drain):
    first, second = publish(people[0]), publish(people[0])
    for post in (first, second):
        do(bob, act, post.public)
    block(people[0], people[1])
    assert do(bob, f"un{act}", first.public)[FLAGS[act]] is False
    do(bob, f"un{act}", first.public, 404)
    delete_post(second)
    undone = do(bob, f"un{act}", second.public)
    assert (undone["id"], undone["content"]) == (second.public, "")
    drain()
    assert_drained_truth()


def test_deleting_ones_repost_takes_it_back(bob, original, drain):
    event = do(bob, "reblog", original)["id"]
    deleted = bob.delete(f"{STATUSES}/{event}")
    assert (deleted.status_code, deleted.json()["text"]) == (200, "")
    assert see(bob, original)["reblogged"] is False
    assert bob.get(f"{STATUSES}/{event}").status_code == 404
    drain()
    assert_drained_truth()


def test_deleting_a_post_takes_its_reposts_with_it(people, bob, original):
    event = do(bob, "reblog", original)["id"]
    page = f"/api/v1/accounts/{people[1]}/statuses"
    assert ids_of(bob.get(page)) == [event]
    delete_post(_id(original))
    assert bob.get(f"{STATUSES}/{event}").status_code == 404
    assert ids_of(bob.get(page)) == []
    assert bob.delete(f"{STATUSES}/{event}").status_code == 200


def test_author_pages_leave_kinds_out_and_are_full(people, ann, bob, original):
    gone = [publish(people[0]) for _ in range(6)]
    kept = [reply(bob, original)["id"] for _ in range(2)]
    plain = publish(people[1]).public
    for post in gone:
        do(bob, "reblog", post.public)
    event = do(bob, "reblog", original)["id"]
    for post in gone:
        delete_post(post)
    page = f"/api/v1/accounts/{people[1]}/statuses"
    assert ids_of(bob.get(page, {"limit": 2})) == [event, plain]
    assert ids_of(bob.get(page, {"exclude_replies": "true"})) == [event, plain]
    without = {"exclude_reblogs": "true"}
    assert ids_of(bob.get(page, without)) == [plain, *kept[::-1]]
    assert ids_of(bob.get(page, without | {"exclude_replies": "1"})) == [plain]


def test_context_goes_up_to_the_root_and_down_depth_first(people, ann, bob, original, drain):
    a = reply(bob, original, "a")["id"]
    b = reply(bob, original, "b")["id"]
    aa = reply(ann, a, "aa")["id"]
    ab = reply(ann, a, "ab")["id"]
    aaa = reply(bob, aa, "aaa")["id"]
    drain()

    def around(post: str, caller: Caller = bob):
        found = caller.get(f"{STATUSES}/{post}/context").json()
        return [[status["id"] for status in found[part]] for part in ("ancestors", "descendants")]

    assert around(original) == [[], [a, aa, aaa, ab, b]]
    assert around(aaa) == [[original, a, aa], []]
    assert around(original, Client()) == [[], [a, aa, aaa, ab, b]]
    assert isinstance(try_cast(Context, bob.get(f"{STATUSES}/{a}/context").json()), Context)
    delete_post(_id(aa))
    assert around(original) == [[], [a, aaa, ab, b]], "no drain has run"
    assert around(aaa) == [[], []]
    block(people[0], people[1])
    assert around(a) == [[], [aaa]]


def test_context_is_bounded(people, bob, original, monkeypatch, drain):
    chain = [original]
    for _ in range(6):
        chain.append(reply(bob, chain[-1])["id"])
    drain()
    monkeypatch.setattr(context, "FOR_ANYBODY", context.Bounds(2, 4, 3))
    anybody = Client()
    up = anybody.get(f"{STATUSES}/{chain[6]}/context").json()["ancestors"]
    assert [status["id"] for status in up] == chain[4:6]
    down = anybody.get(f"{STATUSES}/{original}/context").json()["descendants"]
    assert [status["id"] for status in down] == chain[1:4], "three deep"
    for _ in range(6):
        reply(bob, original)
    drain()
    down = anybody.get(f"{STATUSES}/{original}/context").json()["descendants"]
    assert len(down) == 4


def test_lists_of_who_did_it_are_paged_the_latest_first(people, ann, original, drain):
    others = make_accounts(5)
    for other in others:
        do(Caller(other), "reblog", original)
        do(Caller(other), "favourite", original)
    drain()
    for name in ("reblogged_by", "favourited_by"):
        found, path = [], f"{STATUSES}/{original}/{name}?limit=2"
        while path:
            answer = ann.get(path)
            found += ids_of(answer)
            path = next_link(answer)
        assert sorted(found) == sorted(map(str, others))
        newest = ann.get(f"{STATUSES}/{original}/{name}?limit=2")
        cursor = newest["Link"].split("min_id=")[1].split(">")[0]
        assert ids_of(ann.get(f"{STATUSES}/{original}/{name}?min_id={cursor}")) == []
        block(people[0], others[0])
        assert str(others[0]) not in ids_of(ann.get(f"{STATUSES}/{original}/{name}"))
        unblock(people[0], others[0])


@pytest.mark.parametrize(("act", "path"), [("favourite", "favourites"), ("bookmark", "bookmarks")])
def test_own_lists_are_paged_the_latest_first(act, path, people, bob):
    posts = [publish(people[0]).public for _ in range(5)]
    order = [posts[2], posts[4], posts[0], posts[3], posts[1]]
    for post in order:
        do(bob, act, post)
    delete_post(_id(posts[0]))
    found, link, pages = [], f"/api/v1/{path}?limit=2", 0
    while link:
        answer = bob.get(link)
        found += ids_of(answer)
        link, pages = next_link(answer), pages + 1
    # Marks of one millisecond order by post.
    assert sorted(found) == sorted(set(posts) - {posts[0]})
    assert pages == 2
    assert ids_of(Caller(people[2]).get(f"/api/v1/{path}")) == []
    do(bob, f"un{act}", posts[1])
    assert posts[1] not in ids_of(bob.get(f"/api/v1/{path}"))


def test_the_schema_tells_the_truth(bob, original):
    for status in (see(bob, original), do(bob, "reblog", original)):
        assert set(status) == set(schema.Status().get_fields())
    found = bob.get(f"{STATUSES}/{original}/context").json()
    assert list(found) == list(schema.Context().get_fields())
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    for act in DOING:
        for path in (f"{STATUSES}/{{status_id}}/{act}", f"{STATUSES}/{{status_id}}/un{act}"):
            assert "200" in paths[path]["post"]["responses"]
    security = paths["/api/v1/bookmarks"]["get"]["security"]
    assert security == [{"oauth2": ["read:bookmarks"]}]


def test_a_warm_post_with_all_that_belongs_to_it_costs_no_query(people, bob, original, drain):
    event = do(bob, "reblog", original)["id"]
    drain()
    see(bob, original)
    see(bob, event)
    with count_calls() as calls:
        assert see(bob, original)["reblogged"]
    assert (calls.statements, calls.round_trips) == ([], 1)
    with count_calls() as calls:
        assert see(bob, event)["reblog"]["reblogged"]
    assert (calls.statements, calls.round_trips) == ([], 2)
