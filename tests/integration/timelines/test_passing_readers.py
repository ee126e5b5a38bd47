"""The home page of a reader of whom the process knows nothing: two trips, and nothing is kept."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import NamedTuple

import pytest

from accounts.types import Restriction
from infra.api.pages import Window
from infra.caching.client import Command, FeedRedis, redis
from infra.clock import now_ms
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.cache.in_process import in_process_posts
from posts.cache.weeks import WEEK_S
from posts.ids import PostId
from posts.types import Draft, Kind
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.queries.in_process_relationships import has_kept_relationships
from tests.budgets import count_calls
from tests.integration.timelines.homes import ids_of
from tests.world import NOW, drain_all, forget_memory, make_accounts, publish, restrict
from timelines.queries import home, last_shown
from timelines.queries.home import home_page

AUTHORS, POSTS, REPOSTS = 15, 2, 3
MOST_COMMANDS = 55


class Town(NamedTuple):
    """`friends` have posts, and a few of them reposted others' posts."""

    me: int
    friends: list[int]
    posts: list[PostId]


@pytest.fixture
def town(world: None) -> Town:
    me, *friends = make_accounts(AUTHORS + 1)
    for friend in friends:
        follow(me, friend)
    moments = count(int(time.time()) - 3_600)
    clock_s = partial(next, moments)
    posts = [publish(friend, clock_s=clock_s) for _ in range(POSTS) for friend in friends]
    for number in range(REPOSTS):
        repost(friends[number], posts[-1 - number], clock_s=clock_s)
    drain_all()
    read(me)
    return Town(me, friends, posts)


@pytest.fixture(autouse=True)
def real_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "is_back", last_shown.is_back)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    sent, exchange = list[object](), FeedRedis._exchange_now

    def exchange_aloud(client: FeedRedis, commands: Sequence[Command]) -> list[object]:
        sent.extend(commands)
        return exchange(client, commands)

    monkeypatch.setattr(FeedRedis, "_exchange_now", exchange_aloud)
    return sent


def read(me: int, clock_ms: Callable[[], int] = now_ms, limit: int = 20) -> list[bytes]:
    return list(home_page(me, Window(limit), clock_ms=clock_ms).items)


def read_as_passing(me: int, limit: int = 20) -> list[bytes]:
    last_shown._last.clear()
    return read(me, limit=limit)


def test_a_page_costs_two_trips_and_few_commands(town: Town, commands: list[object]) -> None:
    forget_memory()
    last_shown._last.clear()
    commands.clear()
    with count_calls() as calls:
        page = read(town.me)
    assert len(page) == 20
    assert sum(b'"reblogged_by"' in status for status in page) == REPOSTS
    assert (calls.statements, calls.round_trips) == ([], 2)
    assert len(commands) <= MOST_COMMANDS


def test_nothing_is_kept_of_a_reader_who_passes(town: Town) -> None:
    forget_memory()
    read_as_passing(town.me)
    assert not any(True for _ in in_process_posts._posts.all())
    assert not has_kept_relationships(town.me, town.friends)
    read(town.me)  # the reader is back
    assert any(True for _ in in_process_posts._posts.all())
    assert has_kept_relationships(town.me, town.friends)


def test_a_reader_is_back_for_a_minute(town: Town) -> None:
    read_as_passing(town.me)
    read(town.me)
    with count_calls() as calls:
        read(town.me)
    assert calls.round_trips == 1, "the page is kept"
    later_ms = now_ms() + last_shown.RETURN_MS
    with count_calls() as calls:
        read(town.me, clock_ms=lambda: later_ms)
    assert calls.round_trips == 2


def test_the_page_is_the_same_as_for_a_reader_who_is_back(town: Town) -> None:
    me, friends, posts = town
    stranger = make_accounts(1)[0]
    repost(friends[0], publish(stranger))
    for kind in (Kind.FAVOURITE, Kind.BOOKMARK):
        mark_post(me, posts[-4], kind, True)
    mute(me, friends[4])
    block(friends[5], me)
    restrict(friends[6], Restriction.SUSPENDED)
    delete_post(posts[-8])
    hide_post(posts[-9], NOW, 1)
    create_post(friends[9], Draft("a poll?", sensitive=True, spoiler_text="careful"))
    drain_all()
    for limit in (1, 5, 20, 40):
        passing = read_as_passing(me, limit)
        assert passing == read(me, limit=limit) == read(me, limit=limit)
        assert len(passing) == min(limit, len(read(me, limit=40)))


@pytest.mark.parametrize(
    "family", ["posts.week", "accounts.profile", "counters.account", "posts.counts"]
)
@pytest.mark.parametrize("is_spoiled", [False, True])
def test_the_page_is_the_same_without_one_entry(town: Town, family: str, is_spoiled: bool) -> None:
    """Redis evicts single keys, and may have entries of another release."""
    page = read_as_passing(town.me)
    for key in redis().call("KEYS", f"{family}:*"):
        redis().call(*(("SET", key, b"1:2:x") if is_spoiled else ("DEL", key)))
        assert read_as_passing(town.me) == page


def test_posts_older_than_the_cached_weeks_are_shown(world: None) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    weeks_s = [time.time() - weeks * WEEK_S for weeks in (5, 3, 1, 0)]
    posts = [publish(friend, clock_s=partial(float, at_s)) for at_s in weeks_s]
    drain_all()
    for _ in range(2):
        assert ids_of(read_as_passing(me)) == [i.public for i in reversed(posts)]


def test_a_stale_entry_is_read_again(town: Town) -> None:
    """Past its soft time to live an entry is used, and one process reads the source."""
    page = read_as_passing(town.me)
    key = redis().call("KEYS", f"accounts.profile:*{{{town.friends[-1]}}}")[0]
    version, _, payload = redis().call("GET", key).split(b":", 2)
    redis().call("SET", key, b"%b:1:%b" % (version, payload))
    assert read_as_passing(town.me) == page
    assert redis().call("GET", key).split(b":", 2)[1] != b"1"
