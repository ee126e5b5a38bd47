"""Long threads: what they cost, and where they are cut.

Threads in Redis: what a warm page costs, and what ends an entry.
"""

import random
import re
import time
from collections.abc import Iterator
from html import unescape

import pytest

from infra import deadline
from infra.caching.client import redis
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.sql import execute
from pages.views import statuses as pages
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.api.views import statuses as views
from posts.cache import replies as module
from posts.ids import PostId
from posts.queries import context, responses
from posts.reading import statuses
from tests.budgets import count_calls
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.pages.browsing import Browser
from tests.integration.posts.interacting import STATUSES, reply
from tests.races import run_together
from tests.world import NOW, drain_all, make_accounts

# Straight into the tables, as the function of the database and the drain leave them.
POSTS = """
INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, kind, target_author,
    target_moment, thread_author, thread_moment)
SELECT one, %(at)s, 'so?', false, '', 1, %(author)s, %(moment)s, %(author)s, %(moment)s
FROM unnest(%(people)s::bigint[]) AS one
"""
RESPONSES = """
INSERT INTO posts_response (author_id, moment, kind, responder_id, reply_moment, at, revision,
    is_on)
SELECT %(author)s, %(moment)s, 1, one, %(at)s, %(at)s, 1, true
FROM unnest(%(people)s::bigint[]) AS one
"""


def answer_by_all(root: PostId, people: list[int]) -> None:
    told = {"author": root.author_id, "moment": root.moment, "at": root.moment + 1296}
    for alias, group in group_by_shard(people).items():
        execute(alias, POSTS, told | {"people": list(group)})
    execute(shard_of(root.author_id), RESPONSES, told | {"people": people})


def around(caller: Caller, post: str, query: str = "") -> tuple[list[str], list[str]]:
    answer = caller.get(f"{STATUSES}/{post}/context{query}")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    up, down = ([one["id"] for one in found[part]] for part in ("ancestors", "descendants"))
    return up, down


def test_a_chain_on_one_shard_costs_one_query_for_all_ancestors(people, me, you, original, drain):
    chain = [original]
    for _ in range(12):
        chain.append(reply(me, chain[-1])["id"])
    drain()
    with count_calls() as calls:
        assert around(me, chain[-1]) == (chain[:-1], [])
    assert len([one for one in calls.statements if "answered" in one.sql]) == 1


def test_a_chain_over_two_shards_is_followed_to_its_root(people, me, you, original, drain):
    assert shard_of(people[0]) != shard_of(people[1])
    chain = [original]
    for caller in (me, you, you, me, me, you):
        chain.append(reply(caller, chain[-1])["id"])
    drain()
    assert around(me, chain[-1]) == (chain[:-1], [])


@pytest.fixture
def crowd(people, original, monkeypatch) -> str:
    """A post with 30 replies, of which ten are loaded at a time."""
    monkeypatch.setattr(context, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(statuses, "MOST_AT_ONCE", 10)
    answer_by_all(PostId.from_public(original), make_accounts(30))
    return original


def test_a_thread_is_cut_at_a_number_of_bytes(me, crowd, monkeypatch):
    every = around(me, crowd)[1]
    assert len(every) == 30
    monkeypatch.setattr(views, "WHOLE", context.Part(4_096, 20_000))
    answer = me.get(f"{STATUSES}/{crowd}/context")
    found = [one["id"] for one in answer.json()["descendants"]]
    assert 0 < len(found) < 30
    assert found == every[: len(found)], "the first ones, without a hole"
    assert len(answer.content) < 20_100
    assert f'max_id={found[-1]}>; rel="next"' in answer["Link"]


@pytest.mark.parametrize("by", ["number", "bytes"])
def test_a_thread_is_read_in_parts_that_follow_each_other(me, crowd, monkeypatch, by):
    every = around(me, crowd)[1]
    monkeypatch.setattr(views, "MOST_BYTES_OF_PART", 500_000 if by == "number" else 20_000)
    where, found, count = f"{STATUSES}/{crowd}/context?limit=12", [], 0
    while where:
        answer = me.get(where)
        assert len(answer.content) < 30_000
        found += [one["id"] for one in answer.json()["descendants"]]
        link = answer.get("Link", "")
        where, count = link[link.find("/api/") : link.find(">")] if link else "", count + 1
    assert found == every
    assert count == 3 or (by == "bytes" and count > 3)


def test_a_part_loads_no_other_posts_and_has_ancestors_once(people, me, crowd, monkeypatch):
    last = around(me, crowd)[1][0]
    below = reply(me, reply(me, last)["id"])["id"]
    drain_all()
    up, down = around(me, f"{below}", "?limit=1")
    assert (len(up), down) == (1, []), "the nearest"
    seen, real = [], context.load_visible

    def load_and_note(ids, *more):
        seen.extend(ids)
        return real(ids, *more)

    monkeypatch.setattr(context, "load_visible", load_and_note)
    assert around(me, crowd, f"?limit=5&max_id={last}")[0] == []
    assert len(seen) == 5
    assert around(me, crowd, f"?max_id={people[0]}") == ([], []), "no answer of this thread"
    for query in ("limit=x", "max_id=x", "limit=-1"):
        assert me.get(f"{STATUSES}/{crowd}/context?{query}").status_code == 422


def test_a_part_asks_for_no_replies_to_other_posts(me, crowd, monkeypatch):
    """However long the thread is."""
    asked, real = [], context.load_replies

    def load_and_note(posts, most):
        asked.extend(posts)
        return real(posts, most)

    monkeypatch.setattr(context, "load_replies", load_and_note)
    first = around(me, f"{crowd}", "?limit=5")[1]
    assert len(first) == 5 and len(asked) == 1 + 5, "the post, and its answers of the part"
    asked.clear()
    assert len(around(me, crowd, f"?limit=5&max_id={first[-1]}")[1]) == 5
    assert len(asked) == 2 + 5, "also the last one before"


@pytest.mark.parametrize("seed", range(12))
def test_parts_of_any_thread_are_all_of_it_in_the_same_order(people, seed, monkeypatch):
    dice = random.Random(seed)
    posts, parents = [PostId.at(1, 1)], dict[PostId, PostId]()
    for number in range(2, 120):
        newest = posts[-dice.choice([1, 3, len(posts)]) :]
        posts.append(PostId.at(number, number))
        parents[posts[-1]] = dice.choice(newest)
    children = {post: [i for i in posts[1:] if parents[i] == post] for post in posts}

    def list_ancestors(post: PostId, most: int) -> list[PostId]:
        above = [post]
        while above[-1] in parents:
            above.append(parents[above[-1]])
        return above[1 : most + 1]

    def load(level: list[PostId], most: int) -> dict[PostId, list[PostId]]:
        return {post: children[post] for post in level if children[post]}

    monkeypatch.setattr(context, "load_replies", load)
    monkeypatch.setattr(context, "_find_ancestors", list_ancestors)
    bounds = context.FOR_VIEWERS
    root = posts[dice.choice([0, 1, 2])]
    whole = context._find_in_whole(root, bounds, people[0], context.WHOLE)
    for after in (None, *whole):
        part = context.Part(dice.choice([1, 2, 7, 200]), 1, after)
        expected = context._find_in_whole(root, bounds, people[0], part)
        assert context._find_in_part(root, bounds, people[0], part) == expected[: part.limit + 1]


def test_a_page_draws_a_part_of_a_thread_and_links_to_the_rest(people, me, crowd, monkeypatch):
    monkeypatch.setattr(pages, "POSTS_OF_THREAD", 12)
    every, browser = around(me, crowd)[1], Browser(people[0])
    where, found = f"/statuses/{crowd}", []
    for _ in range(3):
        page = browser.read(where)
        ids = re.findall(r'id="post-(\w+)"', page)
        assert ids[0] == crowd
        found += ids[1:]
        older = re.search(r'class="older" href="([^"]+)"', page)
        where = f"/statuses/{crowd}{unescape(older[1])}" if older else ""
    assert (found, where) == (every, "")


def test_a_page_deep_in_a_thread_has_the_nearest_posts_and_a_link_up(
    people, me, original, drain, monkeypatch
):
    monkeypatch.setattr(pages, "POSTS_OF_THREAD", 3)
    chain = [original]
    for _ in range(5):
        chain.append(reply(me, chain[-1])["id"])
    drain()
    page = Browser(people[0]).read(f"/statuses/{chain[-1]}")
    assert re.findall(r'id="post-(\w+)"', page) == chain[2:]
    assert f'class="older" href="/statuses/{chain[2]}"' in page


def test_a_thread_is_cut_when_half_of_the_time_is_over(me, crowd, settings, monkeypatch):
    """The first part is shown, however slow; the next request finds it in the caches."""
    settings.READ_DEADLINE_MS = 2_000
    every, real = around(me, crowd)[1], context.load_visible

    def load_slowly(*args):
        time.sleep(1.01)  # longer than half of the deadline
        return real(*args)

    monkeypatch.setattr(context, "load_visible", load_slowly)
    assert around(me, crowd)[1] == every[:10]


def test_a_read_waits_for_no_database_after_its_deadline(me, crowd, settings, monkeypatch):
    """A whole request has a limit, however many waits it has. A write goes on."""
    settings.READ_DEADLINE_MS = 500
    monkeypatch.setattr(deadline.time, "monotonic", lambda: next(clock))
    clock = iter(range(10_000))  # each look at the clock is a second later
    with pytest.MonkeyPatch.context() as only_here:
        only_here.setattr(deadline, "is_half_over", lambda: False)
        answer = me.get(f"{STATUSES}/{crowd}/context")
    monkeypatch.undo()
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert len(around(me, crowd)[1]) == 30, "the connections are usable again"


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
            [late[0]] = run_together([lambda: reply(you, original)["id"]])
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
