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


def test_a_warm_thread_of_100_replies_asks_no_shard(people, me, you, original):
    answer_by_all(PostId.from_public(original), make_accounts(100))
    expected = around(me, original)
    around(you, original)
    leaf = expected[1][50]
    assert around(me, leaf) == ([original], [])
    with count_calls() as calls:
        assert around(me, original) == around(you, original) == expected
        assert around(me, leaf) == ([original], [])
    assert len(expected[1]) == 100
    assert calls.sql == {}
    assert calls.round_trips <= 15


def test_a_reply_is_in_the_next_page_of_everybody(people, me, you, original, drain):
    first = reply(you, original)["id"]
    drain()
    assert around(me, original) == around(you, original) == ([], [first])
    second, below = reply(me, original)["id"], reply(you, first)["id"]
    drain()
    assert around(me, original) == around(you, original)
    assert {*around(me, original)[1]} == {first, below, second}
    assert around(me, first) == ([original], [below])


def test_a_deleted_or_hidden_reply_is_gone_at_once(people, me, you, original, drain):
    posts = [reply(you, original)["id"] for _ in range(3)]
    below = reply(me, posts[0])["id"]
    drain()
    assert around(me, original)[1] == [posts[0], below, *posts[1:]]
    delete_post(PostId.from_public(posts[0]))
    hide_post(PostId.from_public(posts[1]), NOW, revision=1)
    for _ in range(2):  # before the drain and after it
        assert around(me, original)[1] == [below, posts[2]]
        assert around(me, below)[0] == [original]
        drain()


def test_closed_replies_are_for_those_who_may_see_them(people, me, you, original):
    answer = you.post(
        STATUSES, {"status": "psst", "in_reply_to_id": original, "visibility": "private"}
    )
    closed, carol = answer.json()["id"], Caller(people[2])
    for _ in range(2):
        assert around(you, original)[1] == [closed]
        assert around(carol, original)[1] == []


def test_a_reply_during_a_load_is_not_hidden_by_it(people, me, you, original, monkeypatch, drain):
    """The load has read the rows from before the reply, and stores after it."""
    late: list[str] = []

    def read_slowly(parents: Iterator[PostId], limit: int) -> dict[PostId, list[PostId]]:
        found = responses.read_replies(parents, limit)
        if not late:
            late.append("")
            late[0] = reply(you, original)["id"]
            drain()
        return found

    monkeypatch.setattr(module, "read_replies", read_slowly)
    assert around(me, original) == ([], [])
    assert around(me, original) == ([], late)


def test_dying_before_the_entry_is_ended_leaves_it_to_the_drain(people, me, you, original, drain):
    assert around(me, original) == ([], [])
    reply(you, original)
    with dying_at("posts.responses_recorded"):
        drain()
    assert around(me, original) == ([], [])
    drain()
    assert len(around(me, original)[1]) == 1


def test_more_replies_than_an_entry_holds_are_read_from_the_shard(
    people, me, original, monkeypatch
):
    monkeypatch.setattr(module, "MOST_KEPT", 5)
    answer_by_all(PostId.from_public(original), make_accounts(6))
    for _ in range(2):
        assert len(around(me, original)[1]) == 6


def test_after_a_flush_a_thread_comes_from_the_shards(people, me, original):
    answer_by_all(PostId.from_public(original), make_accounts(3))
    expected = around(me, original)
    redis().call("FLUSHDB")
    assert around(me, original) == expected


def test_a_purged_or_unreadable_entry_is_loaded_again(people, me, you, original):
    first = reply(you, original)["id"]
    leaf = reply(me, first)["id"]
    expected = (around(me, original), around(me, leaf))
    for family in ("posts.replies", "posts.ancestors"):
        for name in redis().call("KEYS", f"{family}:*"):
            redis().call("SET", name, b"x")
    assert (around(me, original), around(me, leaf)) == expected
