"""Long threads: what they cost, and where they are cut."""

import time

import pytest

from infra import deadline
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.sql import execute
from posts.ids import PostId
from posts.queries import context
from posts.reading import statuses
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.posts.interacting import STATUSES, reply
from tests.world import make_accounts

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


def around(caller: Caller, post: str) -> tuple[list[str], list[str]]:
    answer = caller.get(f"{STATUSES}/{post}/context")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    up, down = ([one["id"] for one in found[part]] for part in ("ancestors", "descendants"))
    return up, down


def test_a_chain_on_one_shard_costs_one_query_for_all_ancestors(people, ann, bob, original, drain):
    chain = [original]
    for _ in range(12):
        chain.append(reply(ann, chain[-1])["id"])
    drain()
    with count_calls() as calls:
        assert around(ann, chain[-1]) == (chain[:-1], [])
    assert len([one for one in calls.statements if "answered" in one.sql]) == 1


def test_a_chain_over_two_shards_is_followed_to_its_root(people, ann, bob, original, drain):
    assert shard_of(people[0]) != shard_of(people[1])
    chain = [original]
    for caller in (ann, bob, bob, ann, ann, bob):
        chain.append(reply(caller, chain[-1])["id"])
    drain()
    assert around(ann, chain[-1]) == (chain[:-1], [])


@pytest.fixture
def crowd(people, original, monkeypatch) -> str:
    """A post with 30 replies, of which ten are loaded at a time."""
    monkeypatch.setattr(context, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(statuses, "MOST_AT_ONCE", 10)
    answer_by_all(PostId.from_public(original), make_accounts(30))
    return original


def test_a_thread_is_cut_at_a_number_of_bytes(ann, crowd, monkeypatch):
    every = around(ann, crowd)[1]
    assert len(every) == 30
    monkeypatch.setattr(context, "MOST_BYTES", 20_000)
    answer = ann.get(f"{STATUSES}/{crowd}/context")
    found = [one["id"] for one in answer.json()["descendants"]]
    assert 0 < len(found) < 30
    assert found == every[: len(found)], "the first ones, without a hole"
    assert len(answer.content) < 20_100


def test_a_thread_is_cut_when_half_of_the_time_is_over(ann, crowd, settings, monkeypatch):
    """The first part is shown, however slow; the next request finds it in the caches."""
    settings.READ_DEADLINE_MS = 2_000
    every, real = around(ann, crowd)[1], context.load_visible

    def load_slowly(*args):
        time.sleep(1.01)  # longer than half of the deadline
        return real(*args)

    monkeypatch.setattr(context, "load_visible", load_slowly)
    assert around(ann, crowd)[1] == every[:10]


def test_a_read_waits_for_no_database_after_its_deadline(ann, crowd, settings, monkeypatch):
    """A whole request has a limit, however many waits it has. A write goes on."""
    settings.READ_DEADLINE_MS = 500
    monkeypatch.setattr(deadline.time, "monotonic", lambda: next(clock))
    clock = iter(range(10_000))  # each look at the clock is a second later
    with pytest.MonkeyPatch.context() as only_here:
        only_here.setattr(deadline, "is_half_over", lambda: False)
        answer = ann.get(f"{STATUSES}/{crowd}/context")
    monkeypatch.undo()
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert len(around(ann, crowd)[1]) == 30, "the connections are usable again"
