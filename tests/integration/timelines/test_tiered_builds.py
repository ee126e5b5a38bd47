"""Builds of the two tiers: a reader between the two halves, a process that dies there, and rows
that do not fill a page."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from redis.exceptions import RedisError

from infra.api.pages import Window
from infra.caching.client import redis
from relations.actions.follow import follow
from tests.budgets import Calls, count_calls
from tests.races import failures, run_together
from tests.redis_away import wait_for_redis
from tests.world import drain_all, find_live, forget_memory, make_account, publish
from timelines.home.page import home_page
from timelines.stores import postgres, rows
from timelines.stores.factory import timeline_store
from timelines.stores.packed import FAMILY, PackedStore
from timelines.stores.postgres import PostgresStore
from timelines.types import LiveTimeline

PAGE = Window(limit=20)
PULLS = ("timelines_recentpost", "FROM posts_")
Finish = Callable[..., bool]


@pytest.fixture
def tiered(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An account of a tiered store that follows an author with one post."""
    monkeypatch.setattr(settings, "TIMELINE_STORE", "tiered")
    timeline_store.cache_clear()
    tiered, author = make_account(), make_account()
    follow(tiered, author)
    publish(author)
    drain_all()
    yield tiered
    timeline_store.cache_clear()


def lose_hot() -> None:
    forget_memory()
    for key in redis().call("KEYS", f"{FAMILY}*"):
        redis().call("DEL", key)


def pulls(calls: Calls) -> list[str]:
    return [
        f"{one.alias}: {one.sql}"
        for one in calls.statements
        if any(table in one.sql for table in PULLS)
    ]


def live_of(tiered: int) -> LiveTimeline:
    live = find_live(tiered)
    assert live is not None
    return live


def test_a_reader_between_the_two_halves_of_a_build_gets_the_whole_timeline(
    tiered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[LiveTimeline | None] = []

    def watched(finish: Finish) -> Finish:
        def finish_and_read(*args: Any) -> bool:
            if len(seen) < 2:
                seen.append(None)
                seen[-1] = find_live(tiered)
            return finish(*args)

        return finish_and_read

    for store in (PackedStore, PostgresStore):
        monkeypatch.setattr(store, "finish_build", watched(store.finish_build))
    assert len(home_page(tiered, PAGE).items) == 1
    assert seen == [None, live_of(tiered)]
    assert live_of(tiered).complete_from == 0


@pytest.mark.parametrize("error", [RedisError, SystemExit])
def test_a_build_that_ends_between_its_halves_leaves_no_wrong_page(
    tiered: int, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Redis is lost there, or the process: then the hot half is ended and the cold one is not."""
    broken = PackedStore if error is RedisError else PostgresStore

    def fail(*_: object) -> bool:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(broken, "finish_build", fail)
        try:
            home_page(tiered, PAGE)
        except SystemExit:
            assert live_of(tiered).complete_from == 0
    wait_for_redis()
    for _ in range(2):
        lose_hot()
        assert len(home_page(tiered, PAGE).items) == 1
        assert live_of(tiered).complete_from == 0


def test_readers_who_lost_a_short_hot_timeline_pull_once_and_later_pages_never(
    tiered: int,
) -> None:
    home_page(tiered, PAGE)
    lose_hot()
    with count_calls() as calls:
        answers = run_together([lambda: home_page(tiered, PAGE)] * 4)
    assert not failures(answers), answers
    assert max(Counter(pulls(calls)).values()) == 1, "one of the index, one of each shard's tables"
    with count_calls() as calls:
        home_page(tiered, PAGE)
    assert pulls(calls) == []


def test_rows_that_fill_a_page_are_copied_without_a_pull(
    tiered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "ENOUGH", 2)
    publish(tiered)
    drain_all()
    home_page(tiered, PAGE)
    lose_hot()
    with count_calls() as calls:
        answers = run_together([lambda: home_page(tiered, Window(limit=1))] * 4)
    assert not failures(answers), answers
    assert pulls(calls) == []
    assert sum(one.sql == rows.READ for one in calls.statements) == 1
