"""Any chosen store answers as the oracle does, also after a change of the store."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from infra.caching.client import redis
from infra.caching.questions import answer
from infra.changes.failpoints import arm, disarm
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.timelines.drawn import examples
from tests.integration.timelines.homes import first_page, read_to_end
from tests.integration.timelines.test_histories import History, step
from tests.world import clean, drain_all, find_live, make_accounts, publish
from timelines.models import TimelineEntry, TimelineHead
from timelines.stores.factory import STORES, timeline_store
from timelines.stores.generation import start_generation
from timelines.stores.interface import TimelineStore
from timelines.stores.weeks import (
    PARTITIONS,
    delete_expired,
    keep_weeks,
    oldest_second_read,
    week_of,
)
from timelines.types import LiveTimeline

pytestmark = pytest.mark.slow

Choose = Callable[[str], None]
OTHERS = [name for name in STORES if name != "packed"]
ALIAS = "shard0"


@pytest.fixture
def choose(world: None, settings: Settings) -> Iterator[Choose]:
    """Changes the setting as a restart would. Tests' posts are from the product's first minutes."""

    def choose_store(name: str) -> None:
        settings.TIMELINE_STORE, settings.TIMELINE_COLD_DAYS = name, 100_000
        _restart()

    yield choose_store
    _restart()


def _restart() -> None:
    timeline_store.cache_clear()
    start_generation.cache_clear()


@pytest.fixture(params=OTHERS)
def tiny(request: pytest.FixtureRequest, choose: Choose, settings: Settings) -> None:
    """Outside the test: else each example would stack its settings on the last ones."""
    settings.TIMELINE_ENTRIES = 6
    choose(request.param)


@examples(6)
@given(steps=st.lists(step, min_size=15, max_size=40))
def test_home_is_what_the_oracle_says_whatever_the_store(
    tiny: None, steps: list[tuple[str, int | None, int | None]]
) -> None:
    clean()
    history = History()
    for one in steps:
        history.run(*one)
    history.check()


def test_another_store_changes_no_answer(choose: Choose) -> None:
    """Every order of stores, and back to one used before. Its readers also find the posts that were
    not pushed to it."""
    me, friend = make_accounts(2)
    follow(me, friend)
    posts = [publish(friend).public]
    for before, after in permutations(STORES, 2):
        for name in (before, after):
            choose(name)
            drain_all()
            assert read_to_end(me) == sorted(posts, reverse=True)
            posts.append(publish(friend).public)
            drain_all()
            assert read_to_end(me) == sorted(posts, reverse=True)
            assert find_live(me) is not None


@pytest.mark.parametrize("name", STORES)
def test_a_restart_with_the_same_store_builds_nothing_anew(choose: Choose, name: str) -> None:
    choose(name)
    me, friend = make_accounts(2)
    follow(me, friend)
    publish(friend)
    drain_all()
    first_page(me)
    laid = find_live(me)
    period = start_generation(name)
    choose(name)
    assert start_generation(name) == period
    assert laid is not None
    assert find_live(me) == laid


@pytest.mark.parametrize("name", STORES)
def test_who_runs_on_from_an_earlier_period_reads_what_later_ones_lay(
    choose: Choose, name: str
) -> None:
    """While processes restart one after the other, no page builds over and over."""
    choose(name)
    (me,) = make_accounts(1)
    earlier = timeline_store()
    choose("packed" if name == "zset" else "zset")
    timeline_store()
    choose(name)
    first_page(me)
    assert find_live(me) is not None
    assert answer(earlier.ask(me)) == find_live(me)
    drain_all()
    assert rebuild_in(earlier, me) is None, "but not the reverse: it may have missed posts"


def rebuild_in(earlier: TimelineStore, reader_id: int) -> LiveTimeline | None:
    """The current generation reads a timeline that an earlier one builds."""
    earlier.begin_build(reader_id, 1)
    assert earlier.finish_build(reader_id, 1, LiveTimeline.of([], 0, 1))
    return find_live(reader_id)


@pytest.mark.parametrize("name", OTHERS)
def test_a_post_pushed_between_computing_and_laying_is_kept_by_each(
    choose: Choose, name: str
) -> None:
    choose(name)
    me, friend = make_accounts(2)
    follow(me, friend)
    drain_all()

    def post() -> None:
        disarm("rebuild.computed")
        publish(friend)
        drain_all()

    arm("rebuild.computed", post)
    assert first_page(me) == []
    assert len(first_page(me)) == 1
    assert find_live(me) is not None


@pytest.mark.parametrize("name", ["postgres", "tiered"])
def test_rows_outlive_a_flush(choose: Choose, name: str) -> None:
    """Nothing is computed: the next page runs no query on posts by author."""
    choose(name)
    me, friend = make_accounts(2)
    follow(me, friend)
    post = publish(friend)
    drain_all()
    assert first_page(me) == [post.public]
    redis().call("FLUSHDB")
    later = publish(friend)
    drain_all()
    with count_calls() as calls:
        assert first_page(me) == [later.public, post.public] or later < post
    statements = [statement.sql for statement in calls.statements]
    assert not [sql for sql in statements if "from_moment" in sql or "recentpost" in sql]
    assert [sql for sql in statements if "timelines_entry" in sql]


def test_a_page_of_a_hot_timeline_asks_no_shard(choose: Choose) -> None:
    choose("tiered")
    me, friend = make_accounts(2)
    follow(me, friend)
    publish(friend)
    drain_all()
    for _ in range(3):
        first_page(me)
    with count_calls() as calls:
        first_page(me)
    assert calls.statements == []


def test_a_read_is_noted_on_the_shard_once_a_day(choose: Choose) -> None:
    choose("tiered")
    (me,) = make_accounts(1)
    first_page(me)
    execute(shard_of(me), "UPDATE timelines_head SET read_at = read_at - interval '9 days'")
    first_page(me)
    redis().call("DEL", b"timelines.touched:v1:{%d}" % me)
    first_page(me)
    heads = "SELECT 1 FROM timelines_head WHERE read_at > now() - interval '1 day'"
    assert fetch_all(shard_of(me), heads) == [(1,)]


def test_weeks_are_made_ahead_and_dropped_when_no_tier_reads_them(
    world: None, settings: Settings
) -> None:
    settings.TIMELINE_COLD_DAYS = 60
    today = date(2026, 11, 21)
    old = date(2026, 9, 21)
    assert week_of(date(2026, 9, 22)) == week_of(date(2026, 9, 27)) == old
    PARTITIONS.make(ALIAS, [old, old - timedelta(weeks=1), old - timedelta(weeks=2)])
    dropped = keep_weeks(ALIAS, today)
    names = PARTITIONS.names(ALIAS)
    assert dropped == [PARTITIONS.name(old - timedelta(weeks=2))]
    assert {PARTITIONS.name(old), PARTITIONS.name(week_of(today))} <= names
    read_from = oldest_second_read(today, 60)
    assert PARTITIONS.first(old) == read_from, "60 days, and the rest of their first week"
    assert keep_weeks(ALIAS, today + timedelta(weeks=20)) != [], "it slept for twenty weeks"
    for name in PARTITIONS.names(ALIAS):
        execute(ALIAS, f"DROP TABLE {name}")


def test_the_dead_are_buried_with_their_entries(choose: Choose) -> None:
    choose("postgres")
    me, friend, other = (next(a for a in make_accounts(8) if shard_of(a) == ALIAS) for _ in "abc")
    for reader in (me, other):
        follow(reader, friend)
    publish(friend)
    drain_all()
    for reader in (me, other):
        first_page(reader)
    age = "UPDATE timelines_head SET read_at = now() - interval '18 days' WHERE reader_id = %s"
    execute(ALIAS, age, (me,))
    assert delete_expired(ALIAS) == 1
    assert delete_expired(ALIAS) == 0
    assert [head.reader_id for head in TimelineHead.objects.on(ALIAS)] == [other]
    assert {one.reader_id for one in TimelineEntry.objects.on(ALIAS)} == {other}
    assert len(first_page(me)) == 1
