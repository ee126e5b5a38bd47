"""Fan-outs while a shard does not answer: only its readers wait.

Pushes reach readers who read lately. A returning reader is served at once.
"""

from collections.abc import Sequence

import pytest
from django.conf import settings
from django.db import OperationalError
from pytest_django import Settings

from infra.caching.client import redis
from infra.caching.keys import key
from infra.changes.compensate import drain
from infra.changes.lanes import LaneGroup
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all
from relations.actions.follow import follow
from tests.callers import Caller, ids_of
from tests.integration.timelines.homes import first_page
from tests.integration.timelines.many_followers import (
    each,
    entries_of,
    have,
    make_live,
    of_post,
    write_followers,
)
from tests.world import drain_all, make_account, make_accounts, publish
from timelines.actions import fan_out
from timelines.recent import replicated
from timelines.stores.packed import FAMILY
from timelines.types import Entry


class Away:
    """Shards whose recent-posts index does not answer, and what was asked of the others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.aliases: set[str] = set()
        self.calls: list[str] = []
        self._index = replicated.index_recent
        monkeypatch.setattr(replicated, "index_recent", self.index)

    def index(self, alias: str, entries: Sequence[Entry]) -> int:
        self.calls.append(alias)
        if alias in self.aliases:
            raise OperationalError("connection refused")
        return self._index(alias, entries)


@pytest.fixture
def away(small_pieces: Settings, monkeypatch: pytest.MonkeyPatch) -> Away:
    return Away(monkeypatch)


@pytest.mark.parametrize("count", [4, 30])
def test_readers_of_a_shard_that_is_away_are_pushed_to_when_it_is_back(
    away: Away, count: int
) -> None:
    author = make_account()
    dead = "shard2" if shard_of(author) != "shard2" else "shard3"
    crowd = write_followers(author, count)
    make_live(crowd)
    away.aliases = {dead}
    post = publish(author)
    drain_all()
    theirs = [one for one in crowd if shard_of(one) == dead]
    others = [one for one in crowd if shard_of(one) != dead]
    assert have(others) == each(others, post)
    assert have(theirs) == each(theirs), "their index does not have it"
    away.aliases = set()
    for alias in all_aliases():
        execute(alias, "UPDATE changes_change SET next_attempt_at = clock_timestamp()")
    drain_all()
    assert have(crowd) == each(crowd, post)


def test_what_waits_for_one_shard_waits_together_and_in_a_lane_of_its_own(away: Away) -> None:
    authors = [one for one in make_accounts(40) if shard_of(one) == "shard0"]
    away.aliases = {"shard3"}
    for author in authors:
        publish(author)
    for lane in (0, 1):
        drain("shard0", lane)
    away.calls.clear()
    assert drain("shard0", LaneGroup.WAITING).failed == len(authors)
    assert away.calls == ["shard3"]
    state = fetch_all("shard0", "SELECT DISTINCT state, attempts FROM changes_change")
    assert state == [(0, 0)]


def test_shards_that_are_away_wait_for_themselves_only(away: Away) -> None:
    author = make_account()
    mine = shard_of(author)
    first, second = [alias for alias in settings.SHARD_ALIASES if alias != mine][:2]
    crowd = write_followers(author, 5)
    make_live(crowd)
    away.aliases = {first, second}
    post = publish(author)
    drain_all()
    away.aliases = {second}
    execute(mine, "UPDATE changes_change SET next_attempt_at = clock_timestamp()")
    drain_all()
    waiting = [one for one in crowd if shard_of(one) == second]
    reached = [one for one in crowd if shard_of(one) != second]
    assert have(reached) == each(reached, post)
    assert have(waiting) == each(waiting)


def test_index_is_written_before_the_readers_are_pushed_to(
    away: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    push = fan_out._push_each
    monkeypatch.setattr(fan_out, "_push_each", lambda *args: (order.append("push"), push(*args)))
    monkeypatch.setattr(away, "_index", lambda *_: order.append("index") or 1)
    author = make_account()
    write_followers(author, 4)
    publish(author)
    drain_all()
    assert order == ["index"] * 4 + ["push"]


HOME = "/api/v1/timelines/home"


def test_timeline_dies_after_its_last_read_not_its_last_push(world: None) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    first_page(me)
    redis().call("PEXPIRE", key(FAMILY, me), 5_000)
    publish(friend)
    drain_all()
    assert redis().call("PTTL", key(FAMILY, me)) <= 5_000, "a push extends no life"
    assert first_page(me)
    days_ms = settings.TIMELINE_LIVE_DAYS * 86_400_000
    assert days_ms - 60_000 < redis().call("PTTL", key(FAMILY, me)) <= days_ms


def test_who_returns_has_a_full_page_at_the_first_request(world: None) -> None:
    """The timeline expired while posts went on; read over HTTP, without anything in memory."""
    me, *friends = make_accounts(4)
    for friend in friends:
        follow(me, friend)
    drain_all()
    caller = Caller(me)
    assert ids_of(caller.get(HOME)) == []
    redis().call("PEXPIRE", key(FAMILY, me), 1)
    while redis().call("EXISTS", key(FAMILY, me)):
        pass
    posts = [publish(friend) for _ in range(10) for friend in friends]
    drain_all()
    assert redis().call("EXISTS", key(FAMILY, me)) == 0, "a reader who does not read gets no push"
    newest = [post.public for post in sorted(posts, reverse=True)]
    assert ids_of(caller.get(HOME)) == newest[:20]
    later = publish(friends[0])
    drain_all()
    assert entries_of(me) == of_post(*posts, later), "live again"
    assert ids_of(caller.get(HOME)) == sorted([later.public, *newest], reverse=True)[:20]
