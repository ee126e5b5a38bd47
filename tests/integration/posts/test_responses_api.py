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
    delete_post(PostId.from_public(original))
    gone = everything_written()
    for post in (original, "0" * 14):
        do(bob, act, post, 404)
        do(bob, f"un{act}", post, 404)
    assert everything_written() == gone


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
    delete_post(PostId.from_public(original))
    assert bob.get(f"{STATUSES}/{event}").status_code == 404
    assert ids_of(bob.get(page)) == []
    assert bob.delete(f"{STATUSES}/{event}").status_code == 200


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
