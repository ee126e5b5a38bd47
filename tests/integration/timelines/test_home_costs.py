"""Redis round trips and queries of home pages, warm and cold."""

from collections.abc import Callable
from functools import partial

import pytest

from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.remembered import forget_answers
from posts.actions.delete_post import delete_post
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute, unmute
from relations.cache import FOLLOWING
from tests.budgets import count_calls, files_of
from tests.integration.timelines.homes import first_page, ids_of, pulls
from tests.world import make_accounts, publish
from timelines.home.page import home_page

Drain = Callable[[], int]
MOST_FILES = {"same": 17, "made": 60}


def test_a_live_timeline_gets_new_posts_by_push_alone(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    drain()
    first_page(me)
    post = publish(friend)
    drain()
    with count_calls() as calls:
        assert first_page(me) == [post.public]
    assert not pulls(calls)


def test_a_warm_page_costs_one_round_trip_and_no_query(world: None, drain: Drain) -> None:
    me, *friends = make_accounts(26)
    for friend in friends:
        follow(me, friend)
        publish(friend)
    drain()
    first_page(me)
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert (calls.statements, calls.round_trips) == ([], 2)
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert (calls.statements, calls.round_trips) == ([], 1), "the process remembers the page"


def test_how_many_files_run_for_a_page(world: None, drain: Drain) -> None:
    """A newcomer who wants to know how a page is made reads all of them."""
    me, *friends = make_accounts(26)
    for friend in friends:
        follow(me, friend)
        publish(friend)
    drain()
    for _ in range(3):
        first_page(me)
    found: dict[str, int] = {}
    for _ in range(3):
        forget_answers()
        for kind in ("made", "same"):
            files = files_of(partial(first_page, me))
            first_page(me)  # a page is remembered when it is made again soon
            found[kind] = min(found.get(kind, len(files)), len(files))
    assert all(found[kind] <= most for kind, most in MOST_FILES.items()), found


def test_a_deleted_post_of_the_last_page_is_not_brought_back(
    world: None, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    kept, deleted = publish(friend), publish(friend)
    drain()
    assert first_page(me) == [deleted.public, kept.public]
    delete_post(deleted)
    assert first_page(me) == first_page(me) == [kept.public]


def test_a_cold_page_asks_each_shard_a_few_questions(world: None, drain: Drain) -> None:
    """Following list, pull (index, tables), weeks, profiles, counts of both, relationships,
    own marks, home tags,
    hot authors: none grows with the number of followees."""
    me, *friends = make_accounts(61)
    for friend in friends:
        follow(me, friend)
        publish(friend)
    drain()
    redis().call("FLUSHDB")
    with count_calls() as calls:
        assert len(first_page(me)) == 20
    assert max(calls.sql.values()) <= 14, calls.sql


def test_what_lies_between_us_is_remembered_only_while_nothing_changes(
    world: None, drain: Drain
) -> None:
    me, friend, other = make_accounts(3)
    follow(me, friend)
    follow(me, other)
    kept = publish(other)
    publish(friend)
    drain()
    first_page(me)
    mute(me, friend)
    assert first_page(me) == first_page(me) == [kept.public], "no drain has run"
    with count_calls() as calls:
        first_page(me)
    assert (calls.statements, calls.round_trips) == ([], 1)
    unmute(me, friend)
    assert len(first_page(me)) == 2
    block(friend, me)
    assert first_page(me) == [kept.public]


def test_a_mute_ends_by_the_clock_in_remembered_answers_too(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    post = publish(friend)
    drain()
    first_page(me)
    mute(me, friend, duration_s=10, clock_ms=lambda: 1_000)

    def shown(now_ms: int) -> list[str]:
        return ids_of(home_page(me, Window(20), clock_ms=lambda: now_ms).items)

    assert shown(10_999) == shown(10_999) == []
    assert shown(11_000) == [post.public]


def test_a_following_list_that_ran_out_is_laid_again(world: None, drain: Drain) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    publish(friend)
    drain()
    first_page(me)
    redis().call("DEL", FOLLOWING.key(me))
    first_page(me)
    with count_calls() as calls:
        assert len(first_page(me)) == 1
    assert (calls.statements, calls.round_trips) == ([], 2)
