""" "Anything new at home?" over HTTP: from the index, else from the timeline."""

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from infra.caching.client import redis
from infra.caching.viewer_validators import viewer_key
from infra.clock import now_ms
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.ids import FIRST, PostId
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.timelines.last_post_indexes import begin_long_ago, catch_up, no_thread, since
from tests.world import drain_all, make_accounts, publish
from timelines.increments import home_news
from timelines.increments.post_stream import LAG_S
from timelines.increments.queries import Increments
from timelines.types import TimeRange

NEWS = "/api/v1/timelines/home/news"


class Home:
    """A reader who follows two accounts and asks for news; the caches are warm."""

    def __init__(self) -> None:
        self.me, self.ann, self.bob = make_accounts(3)
        self.caller = Caller(self.me)
        for followee in (self.ann, self.bob):
            follow(self.me, followee)
        self.settle()
        self.ask()

    def settle(self) -> None:
        drain_all()
        catch_up()

    def ask(self, cursor: PostId | None = None) -> Any:
        answer = self.caller.get(NEWS, {"since_id": (cursor or since()).public})
        assert answer.status_code == 200, answer.content
        return orjson.loads(answer.content)

    def named(self, cursor: PostId | None = None) -> list[int]:
        return [int(account) for account in self.ask(cursor)["accounts"]]


@pytest.fixture
def home(world: None) -> Iterator[Home]:
    with no_thread():
        begin_long_ago()
        yield Home()


@pytest.fixture
def no_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the index knows")

    monkeypatch.setattr(home_news, "list_shown_events", refuse)


def test_nothing_new_and_something_new(home: Home, no_timeline: None) -> None:
    before = home.ask()
    assert before == {
        "new": False, "count": 0, "accounts": [], "as_of": before["as_of"], "lag_s": LAG_S,
    }  # fmt: skip
    publish(home.bob)
    home.settle()
    after = home.ask(PostId.from_public(before["as_of"]))
    assert after == before | {
        "new": True, "count": 1, "accounts": [str(home.bob)], "as_of": after["as_of"],
    }  # fmt: skip


def test_own_posts_are_news_to_ones_other_devices(home: Home, no_timeline: None) -> None:
    post = publish(home.me)
    home.settle()
    assert home.named() == [home.me]
    assert home.named(post) == []


def test_one_round_trip_and_no_query_when_warm(home: Home, no_timeline: None) -> None:
    publish(home.ann)
    home.settle()
    cursor = since()
    home.ask(cursor)
    with count_calls() as calls:
        assert home.named(cursor) == [home.ann]
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_the_timeline_answers_in_two_round_trips_when_warm(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also an account that wrote a moment ago: only names and counts must be current for it."""
    monkeypatch.setattr(Increments, "snapshot", lambda _: None)
    last, _ = publish(home.ann), publish(home.bob)
    home.settle()
    for _ in range(2):  # the first one finds the posts in Redis
        assert orjson.loads(home.caller.get(NEWS).content)["count"] == 2
    mark_post(home.me, last, Kind.FAVOURITE, True)
    with count_calls() as calls:
        assert orjson.loads(home.caller.get(NEWS).content)["count"] == 2
    assert (calls.statements, calls.round_trips) == ([], 2)


def test_no_store_is_asked_while_no_account_has_published(home: Home, no_timeline: None) -> None:
    """A post of any account, which this process may follow in the meantime, ends that."""
    last, unrelated = publish(home.ann), make_accounts(1)[0]
    home.settle()
    quiet_since = PostId(last.second + 1, 0, 0)
    with count_calls() as calls:
        assert home.named(quiet_since) == []
    assert (calls.statements, calls.round_trips) == ([], 1), "the token is confirmed"
    publish(unrelated, clock_s=lambda: last.posted_at_s + 1)
    home.settle()
    assert home.named(quiet_since) == []
    follow(home.me, unrelated)
    assert home.named(quiet_since) == [unrelated]


@pytest.mark.parametrize("act", [unfollow, mute, block])
def test_nobody_is_named_whom_one_does_not_hear_any_more(
    home: Home, no_timeline: None, act: Callable[[int, int], Any]
) -> None:
    """At the next read, before the drain; and after it, in a process that did not act."""
    publish(home.ann), publish(home.bob)
    home.settle()
    assert set(home.named()) == {home.ann, home.bob}
    act(home.me, home.ann)
    assert home.named() == [home.bob]
    home.settle()
    assert home.named() == [home.bob]


def test_redis_that_lost_the_validators_ends_no_answer(home: Home, no_timeline: None) -> None:
    publish(home.ann)
    home.settle()
    assert home.named() == [home.ann]
    redis().call("DEL", viewer_key(home.me))
    mute(home.me, home.ann)
    cursor = since()
    assert [home.named(cursor), home.named(cursor)] == [[], []]
    with count_calls() as calls:
        assert home.named(cursor) == []
    assert (calls.statements, calls.round_trips) == ([], 1), "copied again"


def test_who_blocks_me_is_not_named(home: Home, no_timeline: None) -> None:
    publish(home.ann)
    home.settle()
    block(home.ann, home.me)
    assert home.named() == []


def test_a_mute_that_ends_by_the_clock_ends_here_too(home: Home, no_timeline: None) -> None:
    publish(home.ann)
    mute(home.me, home.ann, duration_s=3_600)
    home.settle()
    assert home.named() == []
    at_ms = now_ms() + 3_600_000
    assert home_news.find_home_news(home.me, TimeRange(since()), lambda: at_ms).account_ids == [
        home.ann
    ]


def test_whose_reposts_are_hidden_the_timeline_knows(home: Home) -> None:
    follow(home.me, home.ann, FollowOptions(reposts=False))
    cursor = since()
    repost(home.ann, publish(make_accounts(1)[0]))
    home.settle()
    assert home.named(cursor) == [], "nothing that shows"
    publish(home.ann)
    home.settle()
    assert home.named(cursor) == [home.ann]


def test_an_account_whose_reposts_are_hidden_is_named_next_to_others(home: Home) -> None:
    follow(home.me, home.ann, FollowOptions(reposts=False))
    cursor = since()
    publish(home.bob), publish(home.ann)
    home.settle()
    assert sorted(home.named(cursor)) == sorted([home.ann, home.bob])
    cursor = publish(home.bob)
    repost(home.ann, publish(make_accounts(1)[0]))
    publish(home.bob)
    home.settle()
    assert home.named(cursor) == [home.bob]


def test_with_nothing_in_memory_the_timeline_is_asked(home: Home) -> None:
    publish(home.ann)
    deleted = publish(home.bob)
    delete_post(deleted)
    drain_all()
    redis().call("FLUSHDB")
    catch_up()
    assert home.named() == [home.ann]
    assert home.named(since(-LAG_S - 1)) == []


def test_without_a_cursor_it_is_since_the_beginning(home: Home) -> None:
    assert orjson.loads(home.caller.get(NEWS).content)["new"] is False
    publish(home.ann)
    home.settle()
    for query in ({}, {"since_id": ""}, {"since_id": FIRST.public}):
        answer = orjson.loads(home.caller.get(NEWS, query).content)
        assert (answer["count"], answer["accounts"]) == (1, [str(home.ann)])


def test_at_most_forty_are_named_and_all_are_counted(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_news, "MOST_NAMED", 1)
    publish(home.ann), publish(home.bob)
    home.settle()
    answer = home.ask()
    assert (answer["count"], answer["accounts"]) == (2, [str(home.bob)])


def test_the_last_id_there_can_be(home: Home) -> None:
    assert orjson.loads(home.caller.get(NEWS, {"since_id": "z" * 14}).content)["new"] is False


def between(home: Home, cursor: PostId, until: PostId) -> Any:
    query = {"since_id": cursor.public, "max_id": until.public}
    answer = home.caller.get(NEWS, query)
    assert answer.status_code == 200, answer.content
    return orjson.loads(answer.content)


def test_news_between_two_ids(home: Home, no_timeline: None) -> None:
    publish(home.bob)
    home.settle()
    assert between(home, since(), since(-60))["accounts"] == [str(home.bob)]
    long_ago = since(1_000), since(500)
    with count_calls() as calls:
        assert between(home, *long_ago)["accounts"] == [], "the post is newer than the range"
    assert (calls.statements, calls.round_trips) == ([], 1)
    assert between(home, since(-LAG_S), since(-60))["accounts"] == [], "the post is older"
    assert between(home, since(60), since(90))["accounts"] == [], "it ends before it begins"


def test_the_timeline_is_asked_where_the_index_cannot_tell(home: Home) -> None:
    """All of ann's posts are in one period, so the history cannot tell them apart."""
    first, second = (publish(home.ann) for _ in range(2))
    home.settle()
    assert between(home, first, second)["accounts"] == []
    third = publish(home.ann)
    home.settle()
    answer = between(home, first, third)
    assert (answer["count"], answer["accounts"]) == (1, [str(home.ann)])


def test_the_next_question_begins_where_the_range_ended(home: Home) -> None:
    until = since(100)
    assert between(home, since(200), until)["as_of"] == until.public
    assert PostId.from_public(between(home, since(200), since(-100))["as_of"]) < since(0)
