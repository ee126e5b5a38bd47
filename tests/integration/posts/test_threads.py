"""Threads over HTTP: each post names its thread, and a muted thread is marked for who muted it."""

import json

import pytest
from django.test import Client

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import PostId
from posts.management.commands.backfill_threads import Command
from posts.queries.threads import find_muted_threads
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.truth import assert_drained_truth
from tests.world import forget_memory, publish


@pytest.fixture
def thread(ann, bob, original, drain) -> list[str]:
    """The original, a reply, and the author's reply to that."""
    answer = reply(bob, original)["id"]
    posts = [original, answer, reply(ann, answer)["id"]]
    drain()
    return posts


def muted(caller: Caller, path: str, **query: str) -> dict[str, bool]:
    return {one["id"]: one["muted"] for one in caller.get(path, query).json()}


def test_all_posts_of_a_thread_name_its_first_post(bob, thread):
    assert {see(bob, post)["conversation_id"] for post in thread} == {thread[0]}
    boost = do(bob, "reblog", thread[2])
    assert boost["reblog"]["conversation_id"] == thread[0]
    # A reply to a repost answers its original.
    assert reply(bob, boost["id"])["conversation_id"] == thread[0]


def test_a_muted_thread_is_marked_on_all_its_posts_for_who_muted_it(
    people, ann, bob, thread, drain
):
    follow(people[1], people[0])
    other = publish(people[0]).public
    drain()
    pages = ("/api/v1/timelines/home", f"/api/v1/accounts/{people[0]}/statuses", STATUSES)
    for page in pages:  # what memory has now must not be shown later
        muted(bob, page)
    assert do(bob, "mute", thread[2])["muted"] is True
    assert do(bob, "mute", thread[0])["muted"] is True  # again
    late = reply(ann, thread[1])
    assert late["muted"] is False
    for _ in range(2):
        for page in pages:
            found = muted(bob, page, **({"id[]": [*thread, other]} if page == STATUSES else {}))
            assert found.pop(other) is False
            assert found, page
            assert set(found.values()) == {True}, page
    assert see(bob, late["id"])["muted"] is True
    assert do(bob, "favourite", late["id"])["muted"] is True
    assert not any(see(ann, post)["muted"] for post in thread)
    assert Client().get(f"{STATUSES}/{thread[0]}").json()["muted"] is False
    assert do(bob, "unmute", late["id"])["muted"] is False
    assert not any(muted(bob, f"/api/v1/accounts/{people[0]}/statuses").values())
    drain()
    assert_drained_truth()


def test_muted_threads_are_found_for_notifications(people, bob, thread):
    root = PostId.from_public(thread[0])
    do(bob, "mute", thread[1])
    wanted = [(person, root) for person in people]
    assert find_muted_threads(wanted) == {(people[1], root)}


def test_posts_of_a_muted_thread_do_not_notify(people, ann, bob, thread, drain):
    name = bob.get("/api/v1/accounts/verify_credentials").json()["username"]
    before = ids_of(bob.get("/api/v1/notifications"))
    do(bob, "mute", thread[0])
    assert ids_of(bob.get("/api/v1/notifications")) == [], "those of before are hidden"
    reply(ann, thread[1]), reply(ann, thread[2], f"@{name}")
    drain()
    assert ids_of(bob.get("/api/v1/notifications")) == []
    do(bob, "unmute", thread[0])
    assert ids_of(bob.get("/api/v1/notifications")) == before, "what came in between is not kept"
    heard = [reply(ann, thread[1])["id"], reply(ann, thread[2], f"@{name}")["id"]]
    drain()
    found = bob.get("/api/v1/notifications", {"types[]": "mention"}).json()
    assert [one["status"]["id"] for one in found[:2]] == heard[::-1]


def test_threads_that_can_be_muted_have_a_limit(people, bob, monkeypatch):
    monkeypatch.setattr("posts.actions.mute_thread.MAX_MUTED_THREADS", 1)
    posts = [publish(people[0], text).public for text in ("one", "two")]
    do(bob, "mute", posts[0])
    assert "At most 1" in do(bob, "mute", posts[1], status=422)["error"]
    do(bob, "mute", posts[0])


def test_only_visible_threads_are_muted(people, ann, bob, thread):
    ann.post(f"/api/v1/accounts/{people[1]}/block")
    do(bob, "mute", thread[0], status=404)


def test_a_mute_costs_a_page_no_query(people, bob, thread):
    path = f"/api/v1/accounts/{people[0]}/statuses"
    do(bob, "mute", thread[0])
    muted(bob, path), muted(bob, path)
    with count_calls() as calls:
        assert all(muted(bob, path).values())
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_old_replies_get_the_first_post_of_their_thread(people, bob, ann, thread, drain):
    """Also one below a post that is deleted."""
    last = reply(bob, thread[2])["id"]
    ann.delete(f"{STATUSES}/{thread[2]}")
    drain()
    for alias in set(map(shard_of, people)):
        execute(alias, "UPDATE posts_post SET thread_author = NULL, thread_moment = NULL", ())
    redis().call("FLUSHDB")
    forget_memory()
    assert see(bob, last)["conversation_id"] == thread[2]
    changed = [json.loads(Outcome(Command(), "--json").out)["changed"] for _ in range(2)]
    assert changed == [2, None]  # the second run found none
    assert {see(bob, post)["conversation_id"] for post in (thread[1], last)} == {thread[0]}
