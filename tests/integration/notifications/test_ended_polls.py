"""When a poll has ended, its author and all voters are notified once."""

import time

import pytest
from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.actions import notify
from posts.actions import end_polls
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from posts.periodic import PERIODIC_TASKS
from posts.types import Draft, NewPoll, Visibility
from relations.actions.block import block
from tests.budgets import count_calls
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.notifications.listing import body, replay_everything, rows, told
from tests.integration.posts.interacting import do
from tests.plans import nodes_of, settle
from tests.races import failures, run_together
from tests.world import drain_all

FILL = """
INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, poll, is_end_reported)
SELECT %s, n, '', false, '', '{"expires_at_s": 1}', true FROM generate_series(1, 2000) AS n
"""
END_S = int(time.time()) + 86_400  # later than the last test of a slow run
LATER_S = END_S + end_polls.GRACE_S


@pytest.fixture
def poll(people) -> str:
    return ask(people[0])


def ask(author_id: int, visibility: Visibility = Visibility.PUBLIC) -> str:
    asked = NewPoll(("tea", "milk"), False, False, END_S)
    return create_post(author_id, Draft("which?", poll=asked, visibility=visibility)).public


def vote(caller: Caller, poll: str) -> None:
    body(caller.post(f"/api/v1/polls/{poll}/votes", {"choices[]": 1}))


def report_all(now_s: int = LATER_S) -> int:
    return sum(end_polls.end_polls(alias, now_s) for alias in settings.SHARD_ALIASES)


def end_all(now_s: int = LATER_S) -> int:
    reported = report_all(now_s)
    drain_all()
    return reported


def test_author_and_voters_are_told_once(people, me, you, them, poll):
    vote(you, poll)
    assert (end_all(LATER_S - 1), told(you)) == (0, []), "it goes on"
    assert end_all() == 1
    expected = [("poll", str(people[0]), poll)]
    assert [told(one) for one in (me, you, them)] == [expected, expected, []]
    [entity] = body(you.get("/api/v1/notifications", {"types[]": "poll"}))
    assert entity["status"]["poll"]["voted"] is True
    before = rows(people[1])
    replay_everything()
    assert (end_all(), rows(people[1])) == (0, before)
    assert "end_polls" in [task.name for task in PERIODIC_TASKS]


def test_ended_polls_are_found_by_their_index(people, me, poll):
    alias = shard_of(people[0])
    execute(alias, FILL, (people[0],))
    settle(alias, "posts_post")
    with count_calls() as calls:
        assert end_polls.end_polls(alias, LATER_S) == 1
    drain_all()
    beginning = end_polls.ENDED.partition("{owned}")[0]
    found = next(one for one in calls.statements if one.sql.startswith(beginning))
    assert "post_open_poll" in {node.get("Index Name") for node in nodes_of(found)}
    assert told(me) == [("poll", str(people[0]), poll)]


def test_many_voters_are_told_page_by_page(people, me, you, them, poll, monkeypatch):
    monkeypatch.setattr(notify, "AT_ONCE", 1)
    for one in (you, them):
        vote(one, poll)
    end_all()
    expected = [("poll", str(people[0]), poll)]
    assert [told(one) for one in (me, you, them)] == [expected] * 3


def test_what_a_voter_may_not_see_or_silenced_is_not_told(people, me, you, them, poll):
    others = [ask(people[0]) for _ in range(3)]
    for one in (poll, *others):
        vote(you, one)
    delete_post(PostId.from_public(poll))
    do(you, "mute", others[0])
    do(me, "mute", others[1])
    assert end_all() == 3
    do(you, "unmute", others[0])
    assert {one[2] for one in told(you)} == set(others[1:])
    assert {one[2] for one in told(me)} == {others[0], others[2]}
    block(people[0], people[1])
    assert told(you) == []


def test_an_end_is_reported_once_by_many_and_after_a_death(people, me, poll):
    with dying_at("polls.end_reported"):
        report_all()
    second = ask(people[0])
    reported = run_together([report_all] * 3)
    assert (failures(reported), sum(reported)) == ([], 1)
    drain_all()
    assert sorted(one[2] or "" for one in told(me)) == sorted([poll, second])
