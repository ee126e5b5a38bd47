"""Reposts, replies, favourites and bookmarks through HTTP, as Mastodon has them."""

import pytest
from django.test import Client
from mastodon.return_types import Status
from mastodon.types_base import try_cast

from posts.actions.delete_post import delete_post
from posts.ids import PostId
from relations.actions.block import block, unblock
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.truth import assert_drained_truth, everything_written
from tests.world import publish

DOING = ("reblog", "favourite", "bookmark")
FLAGS = {"reblog": "reblogged", "favourite": "favourited", "bookmark": "bookmarked"}
COUNTS = {"reblog": "reblogs_count", "favourite": "favourites_count"}
GONE = {"error": "Record not found"}


@pytest.mark.parametrize("act", DOING)
def test_done_and_undone_at_once_to_whoever_does_it(act, you, me, original, drain):
    done = do(you, act, original)
    shown = done["reblog"] or done
    assert (shown["id"], shown[FLAGS[act]]) == (original, True)
    assert shown.get(COUNTS.get(act), 1) == 1, "no drain has run"
    assert see(you, original)[FLAGS[act]]
    assert not see(me, original)[FLAGS[act]]
    drain()
    assert see(me, original).get(COUNTS.get(act), 1) == 1
    undone = do(you, f"un{act}", original)
    assert (undone["id"], undone[FLAGS[act]], undone["reblog"]) == (original, False, None)
    assert undone.get(COUNTS.get(act), 0) == 0
    drain()
    assert not see(you, original)[FLAGS[act]]
    assert see(me, original).get(COUNTS.get(act), 0) == 0
    assert_drained_truth()


def test_repost_has_an_id_of_its_own_and_the_whole_post_in_it(people, you, original, drain):
    drain()
    made = do(you, "reblog", original)
    assert made["id"] != original
    assert (made["account"]["id"], made["content"]) == (str(people[1]), "")
    assert (made["reblog"]["id"], made["reblog"]["reblog"]) == (original, None)
    assert made["reblog"]["account"]["id"] == str(people[0])
    assert isinstance(try_cast(Status, made), Status)
    drain()
    again = see(you, made["id"])
    assert again["reblog"] == see(you, original) == made["reblog"]
    assert Client().get(f"{STATUSES}/{made['id']}").json()["reblog"]["reblogged"] is False


@pytest.mark.parametrize("act", DOING)
def test_of_a_repost_the_original_is_meant(act, people, you, original):
    event = do(you, "reblog", original)["id"]
    third = Caller(people[2])
    done = do(third, act, event)
    assert (done["reblog"] or done)["id"] == original
    assert do(third, f"un{act}", event)["id"] == original
    assert not see(third, original)[FLAGS[act]]


def test_reply_names_what_it_answers(people, me, you, original, drain):
    made = reply(you, original)
    assert (made["in_reply_to_id"], made["in_reply_to_account_id"]) == (original, str(people[0]))
    drain()
    assert see(me, original)["replies_count"] == 1
    you.delete(f"{STATUSES}/{made['id']}")
    drain()
    assert see(me, original)["replies_count"] == 0
    event = do(you, "reblog", original)["id"]
    assert reply(you, event)["in_reply_to_id"] == original


@pytest.mark.parametrize("act", DOING)
def test_what_one_may_not_see_is_404(act, people, you, original):
    ids = people[0], people[1]
    block(*ids)
    blocked = everything_written()
    assert do(you, act, original, 404) == GONE
    assert everything_written() == blocked
    unblock(*ids)
    block(*ids[::-1])
    do(you, act, original, 404)
    unblock(*ids[::-1])
    do(you, act, original)
    do(you, f"un{act}", original)
    delete_post(PostId.from_public(original))
    gone = everything_written()
    for post in (original, "0" * 14):
        do(you, act, post, 404)
        do(you, f"un{act}", post, 404)
    assert everything_written() == gone


def test_blocked_posts_are_404_to_read_and_to_reply_to(people, you, original):
    event = do(Caller(people[2]), "reblog", original)["id"]
    block(people[0], people[1])
    for post in (original, event):
        assert you.get(f"{STATUSES}/{post}").status_code == 404
        answer = you.post(STATUSES, {"status": "so?", "in_reply_to_id": post})
        assert answer.status_code == 404
        assert "reply to does not appear" in answer.json()["error"]
    assert Client().get(f"{STATUSES}/{event}").status_code == 200


@pytest.mark.parametrize("act", DOING)
def test_undoing_works_after_a_block_and_after_deletion(act, people, you, drain):
    first, second = publish(people[0]), publish(people[0])
    for post in (first, second):
        do(you, act, post.public)
    block(people[0], people[1])
    assert do(you, f"un{act}", first.public)[FLAGS[act]] is False
    do(you, f"un{act}", first.public, 404)
    delete_post(second)
    undone = do(you, f"un{act}", second.public)
    assert (undone["id"], undone["content"]) == (second.public, "")
    drain()
    assert_drained_truth()


def test_deleting_ones_repost_takes_it_back(you, original, drain):
    event = do(you, "reblog", original)["id"]
    deleted = you.delete(f"{STATUSES}/{event}")
    assert (deleted.status_code, deleted.json()["text"]) == (200, "")
    assert see(you, original)["reblogged"] is False
    assert you.get(f"{STATUSES}/{event}").status_code == 404
    drain()
    assert_drained_truth()


def test_deleting_a_post_takes_its_reposts_with_it(people, you, original):
    event = do(you, "reblog", original)["id"]
    page = f"/api/v1/accounts/{people[1]}/statuses"
    assert ids_of(you.get(page)) == [event]
    delete_post(PostId.from_public(original))
    assert you.get(f"{STATUSES}/{event}").status_code == 404
    assert ids_of(you.get(page)) == []
    assert you.delete(f"{STATUSES}/{event}").status_code == 200


def test_a_warm_post_with_all_that_belongs_to_it_costs_no_query(people, you, original, drain):
    event = do(you, "reblog", original)["id"]
    drain()
    see(you, original)
    see(you, event)
    with count_calls() as calls:
        assert see(you, original)["reblogged"]
    assert (calls.statements, calls.round_trips) == ([], 1)
    with count_calls() as calls:
        assert see(you, event)["reblog"]["reblogged"]
    assert (calls.statements, calls.round_trips) == ([], 2)
