"""Threads in Redis: what a warm page costs, and what ends an entry."""

from collections.abc import Iterator

from infra.caching.client import redis
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.cache import replies as module
from posts.ids import PostId
from posts.queries import responses
from tests.budgets import count_calls
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.posts.interacting import STATUSES, reply
from tests.integration.posts.test_long_threads import answer_by_all, around
from tests.world import NOW, make_accounts


def test_a_warm_thread_of_100_replies_asks_no_shard(people, ann, bob, original):
    answer_by_all(PostId.from_public(original), make_accounts(100))
    expected = around(ann, original)
    around(bob, original)
    leaf = expected[1][50]
    assert around(ann, leaf) == ([original], [])
    with count_calls() as calls:
        assert around(ann, original) == around(bob, original) == expected
        assert around(ann, leaf) == ([original], [])
    assert len(expected[1]) == 100
    assert calls.sql == {}
    assert calls.round_trips <= 15


def test_a_reply_is_in_the_next_page_of_everybody(people, ann, bob, original, drain):
    first = reply(bob, original)["id"]
    drain()
    assert around(ann, original) == around(bob, original) == ([], [first])
    second, below = reply(ann, original)["id"], reply(bob, first)["id"]
    drain()
    assert around(ann, original) == around(bob, original)
    assert {*around(ann, original)[1]} == {first, below, second}
    assert around(ann, first) == ([original], [below])


def test_a_deleted_or_hidden_reply_is_gone_at_once(people, ann, bob, original, drain):
    posts = [reply(bob, original)["id"] for _ in range(3)]
    below = reply(ann, posts[0])["id"]
    drain()
    assert around(ann, original)[1] == [posts[0], below, *posts[1:]]
    delete_post(PostId.from_public(posts[0]))
    hide_post(PostId.from_public(posts[1]), NOW, revision=1)
    for _ in range(2):  # before the drain and after it
        assert around(ann, original)[1] == [below, posts[2]]
        assert around(ann, below)[0] == [original]
        drain()


def test_closed_replies_are_for_those_who_may_see_them(people, ann, bob, original):
    answer = bob.post(
        STATUSES, {"status": "psst", "in_reply_to_id": original, "visibility": "private"}
    )
    closed, carol = answer.json()["id"], Caller(people[2])
    for _ in range(2):
        assert around(bob, original)[1] == [closed]
        assert around(carol, original)[1] == []


def test_a_reply_during_a_load_is_not_hidden_by_it(people, ann, bob, original, monkeypatch, drain):
    """The load has read the rows from before the reply, and stores after it."""
    late: list[str] = []

    def read_slowly(parents: Iterator[PostId], limit: int) -> dict[PostId, list[PostId]]:
        found = responses.read_replies(parents, limit)
        if not late:
            late.append("")
            late[0] = reply(bob, original)["id"]
            drain()
        return found

    monkeypatch.setattr(module, "read_replies", read_slowly)
    assert around(ann, original) == ([], [])
    assert around(ann, original) == ([], late)


def test_dying_before_the_entry_is_ended_leaves_it_to_the_drain(people, ann, bob, original, drain):
    assert around(ann, original) == ([], [])
    reply(bob, original)
    with dying_at("posts.responses_recorded"):
        drain()
    assert around(ann, original) == ([], [])
    drain()
    assert len(around(ann, original)[1]) == 1


def test_more_replies_than_an_entry_holds_are_read_from_the_shard(
    people, ann, original, monkeypatch
):
    monkeypatch.setattr(module, "MOST_KEPT", 5)
    answer_by_all(PostId.from_public(original), make_accounts(6))
    for _ in range(2):
        assert len(around(ann, original)[1]) == 6


def test_after_a_flush_a_thread_comes_from_the_shards(people, ann, original):
    answer_by_all(PostId.from_public(original), make_accounts(3))
    expected = around(ann, original)
    redis().call("FLUSHDB")
    assert around(ann, original) == expected


def test_a_purged_or_unreadable_entry_is_loaded_again(people, ann, bob, original):
    first = reply(bob, original)["id"]
    leaf = reply(ann, first)["id"]
    expected = (around(ann, original), around(ann, leaf))
    for family in ("posts.replies", "posts.ancestors"):
        for name in redis().call("KEYS", f"{family}:*"):
            redis().call("SET", name, b"x")
    assert (around(ann, original), around(ann, leaf)) == expected
