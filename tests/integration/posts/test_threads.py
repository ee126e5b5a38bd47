"""Threads over HTTP: each post names its thread, and a muted thread is marked for who muted it.

Replies to a deleted post stay, and no longer name it; the thread stays readable.
"""

import json

import pytest
from django.test import Client

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions import orphan_replies
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from posts.queries.threads import find_muted_threads
from posts.verbs import BackfillThreads
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.dying import dying_at
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.truth import assert_drained_truth
from tests.world import forget_memory, make_accounts, publish


@pytest.fixture
def thread(me, you, original, drain) -> list[str]:
    """The original, a reply, and the author's reply to that."""
    answer = reply(you, original)["id"]
    posts = [original, answer, reply(me, answer)["id"]]
    drain()
    return posts


def muted(caller: Caller, path: str, **query: str) -> dict[str, bool]:
    return {one["id"]: one["muted"] for one in caller.get(path, query).json()}


def test_all_posts_of_a_thread_name_its_first_post(you, thread):
    assert {see(you, post)["conversation_id"] for post in thread} == {thread[0]}
    boost = do(you, "reblog", thread[2])
    assert boost["reblog"]["conversation_id"] == thread[0]
    # A reply to a repost answers its original.
    assert reply(you, boost["id"])["conversation_id"] == thread[0]


def test_a_muted_thread_is_marked_on_all_its_posts_for_who_muted_it(people, me, you, thread, drain):
    follow(people[1], people[0])
    other = publish(people[0]).public
    drain()
    pages = ("/api/v1/timelines/home", f"/api/v1/accounts/{people[0]}/statuses", STATUSES)
    for page in pages:  # what memory has now must not be shown later
        muted(you, page)
    assert do(you, "mute", thread[2])["muted"] is True
    assert do(you, "mute", thread[0])["muted"] is True  # again
    late = reply(me, thread[1])
    assert late["muted"] is False
    for _ in range(2):
        for page in pages:
            found = muted(you, page, **({"id[]": [*thread, other]} if page == STATUSES else {}))
            assert found.pop(other) is False
            assert found, page
            assert set(found.values()) == {True}, page
    assert see(you, late["id"])["muted"] is True
    assert do(you, "favourite", late["id"])["muted"] is True
    assert not any(see(me, post)["muted"] for post in thread)
    assert Client().get(f"{STATUSES}/{thread[0]}").json()["muted"] is False
    assert do(you, "unmute", late["id"])["muted"] is False
    assert not any(muted(you, f"/api/v1/accounts/{people[0]}/statuses").values())
    drain()
    assert_drained_truth()


def test_muted_threads_are_found_for_notifications(people, you, thread):
    root = PostId.from_public(thread[0])
    do(you, "mute", thread[1])
    wanted = [(person, root) for person in people]
    assert find_muted_threads(wanted) == {(people[1], root)}


def test_posts_of_a_muted_thread_do_not_notify(people, me, you, thread, drain):
    name = you.get("/api/v1/accounts/verify_credentials").json()["username"]
    before = ids_of(you.get("/api/v1/notifications"))
    do(you, "mute", thread[0])
    assert ids_of(you.get("/api/v1/notifications")) == [], "those of before are hidden"
    reply(me, thread[1]), reply(me, thread[2], f"@{name}")
    drain()
    assert ids_of(you.get("/api/v1/notifications")) == []
    do(you, "unmute", thread[0])
    assert ids_of(you.get("/api/v1/notifications")) == before, "what came in between is not kept"
    heard = [reply(me, thread[1])["id"], reply(me, thread[2], f"@{name}")["id"]]
    drain()
    found = you.get("/api/v1/notifications", {"types[]": "mention"}).json()
    assert [one["status"]["id"] for one in found[:2]] == heard[::-1]


def test_threads_that_can_be_muted_have_a_limit(people, you, monkeypatch):
    monkeypatch.setattr("posts.actions.mark_post.MAX_MUTED_THREADS", 1)
    posts = [publish(people[0], text).public for text in ("one", "two")]
    do(you, "mute", posts[0])
    assert "At most 1" in do(you, "mute", posts[1], status=422)["error"]
    do(you, "mute", posts[0])


def test_only_visible_threads_are_muted(people, me, you, thread):
    me.post(f"/api/v1/accounts/{people[1]}/block")
    do(you, "mute", thread[0], status=404)


def test_a_mute_costs_a_page_no_query(people, you, thread):
    path = f"/api/v1/accounts/{people[0]}/statuses"
    do(you, "mute", thread[0])
    muted(you, path), muted(you, path)
    with count_calls() as calls:
        assert all(muted(you, path).values())
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_old_replies_get_the_first_post_of_their_thread(people, you, me, thread, drain):
    """Also one below a post that is deleted."""
    last = reply(you, thread[2])["id"]
    me.delete(f"{STATUSES}/{thread[2]}")
    drain()
    for alias in set(map(shard_of, people)):
        execute(alias, "UPDATE posts_post SET thread_author = NULL, thread_moment = NULL", ())
    redis().call("FLUSHDB")
    forget_memory()
    assert see(you, last)["conversation_id"] == thread[2]
    changed = [json.loads(Outcome(BackfillThreads(), "--json").out)["changed"] for _ in range(2)]
    assert changed == [2, None]  # the second run found none
    assert {see(you, post)["conversation_id"] for post in (thread[1], last)} == {thread[0]}


def answered(caller: Caller, post: str) -> tuple[str | None, str | None]:
    status = see(caller, post)
    return status["in_reply_to_id"], status["in_reply_to_account_id"]


def test_a_reply_to_a_deleted_post_names_no_post(people, me, you, original, drain):
    """Mastodon keeps the account, and so do we: timelines leave replies to others out."""
    public = reply(you, original)["id"]
    closed = you.post(
        STATUSES, {"status": "psst", "in_reply_to_id": original, "visibility": "private"}
    ).json()["id"]
    drain()
    page = f"/api/v1/accounts/{people[1]}/statuses"
    ids_of(me.get(page)), ids_of(you.get(page))  # process memory has both posts
    assert answered(me, public) == (original, str(people[0]))
    me.delete(f"{STATUSES}/{original}")
    drain()
    assert answered(me, public) == answered(you, closed) == (None, str(people[0]))
    entry = next(one for one in you.get(page).json() if one["id"] == public)
    assert (entry["in_reply_to_id"], entry["conversation_id"]) == (None, original)
    assert ids_of(you.get(page, {"exclude_replies": "true"})) == []
    forget_memory()
    assert answered(me, public) == (None, str(people[0]))
    assert_drained_truth()


def test_an_edit_of_an_orphan_does_not_name_the_deleted_post_again(me, you, original, drain):
    post = reply(you, original)["id"]
    drain()
    me.delete(f"{STATUSES}/{original}")
    drain()
    you.client.put(f"{STATUSES}/{post}", {"status": "changed"}, "application/json")
    assert (see(me, post)["content"], answered(me, post)[0]) == ("<p>changed</p>", None)


def test_a_reply_that_comes_while_its_parent_is_deleted_is_an_orphan(
    me, you, original, drain, monkeypatch
):
    """Its author was allowed to see the post, and then the post was gone."""
    post = reply(you, original)["id"]
    delete_post(PostId.from_public(original))
    # As if the deletion was delivered before the reply was written: it finds no replies.
    monkeypatch.setattr("posts.consumers.find_answered", lambda *_: [])
    drain()
    assert answered(me, post)[0] is None


def test_very_many_replies_become_orphans_page_by_page_and_survive_a_death(
    people, me, original, drain, monkeypatch
):
    monkeypatch.setattr(orphan_replies, "MOST_AT_ONCE", 2)
    posts = [reply(Caller(one), original)["id"] for one in make_accounts(3) for _ in range(2)]
    drain()
    me.delete(f"{STATUSES}/{original}")

    with dying_at("posts.reply_orphaned"):
        drain()
    drain()
    assert [answered(me, post)[0] for post in posts] == [None] * 6
    assert_drained_truth()
