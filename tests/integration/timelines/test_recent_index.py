"""The recent-posts index: repeated writes change nothing, and only on the named shard."""

from datetime import UTC, datetime

import pytest
from django.conf import settings

from infra.clock import now_ms
from infra.sharding.sql import execute, fetch_all
from posts.ids import PostId
from timelines.recent.actions.index_posts import backfill_recent, index_recent
from timelines.recent.actions.settle_posts import SETTLE_MS, settle_recent
from timelines.recent.days import drop_old_days, first_second
from timelines.types import Entry

ROWS = (
    "SELECT author_id, moment, shown_author, shown_moment FROM timelines_recentpost ORDER BY 1, 2"
)
POST = Entry.of_post(PostId(1000, 7, 3))
REPOST = Entry(PostId(1001, 8, 0), POST.original)
BOTH = [(7, 1000 * 1296 + 3, None, None), (8, 1001 * 1296, 7, 1000 * 1296 + 3)]

pytestmark = pytest.mark.usefixtures("world")


def rows(alias):
    return fetch_all(alias, ROWS)


def test_any_shard_takes_posts_of_any_author_once():
    for alias in settings.SHARD_ALIASES:
        index_recent(alias, [REPOST, POST, POST])
        index_recent(alias, [POST])
        assert rows(alias) == BOTH


def test_nothing_is_written_elsewhere():
    first, *others = settings.SHARD_ALIASES
    index_recent(first, [POST, REPOST])
    assert [rows(alias) for alias in others] == [[] for _ in others]


def test_nothing_to_write_is_no_statement(django_assert_num_queries):
    with django_assert_num_queries(0, using="shard0"):
        index_recent("shard0", [])


def times(alias):
    """Arrival and settlement by author."""
    found = fetch_all(alias, "SELECT author_id, arrival, settled FROM timelines_recentpost")
    return {author: (arrival, settled) for author, arrival, settled in found}


def test_arrival_is_the_time_in_every_partition():
    """A repeated post keeps its time."""
    today, before = datetime.now(UTC).date(), now_ms()
    new_day = Entry.of_post(PostId(first_second(today), 9, 0))
    for alias in settings.SHARD_ALIASES:
        drop_old_days(alias, today)
        for entry in (REPOST, new_day, POST, REPOST):
            index_recent(alias, [entry])
        arrivals = {author: arrival for author, (arrival, _) in times(alias).items()}
        assert before <= arrivals[8] <= arrivals[9] <= arrivals[7] <= now_ms() + 1


def test_backfilled_posts_arrived_long_ago():
    backfill_recent("shard0", [POST])
    index_recent("shard0", [POST])
    assert times("shard0") == {7: (0, None)}


def test_only_posts_that_arrived_long_enough_ago_are_settled():
    index_recent("shard0", [POST, REPOST])
    aged = "UPDATE timelines_recentpost SET arrival = arrival - %s WHERE author_id = 8"
    execute("shard0", aged, (SETTLE_MS + 1,))
    before = now_ms()
    assert settle_recent("shard0", [POST.event, REPOST.event, PostId(1, 1, 1)]) <= 2
    # The database rounds to milliseconds, and this process cuts off.
    assert before <= times("shard0")[8][1] <= now_ms() + 1
    execute("shard0", "UPDATE timelines_recentpost SET settled = settled + 60000")
    later = times("shard0")
    settle_recent("shard0", [POST.event, REPOST.event])
    assert times("shard0")[8] == later[8], "a moment ago"
