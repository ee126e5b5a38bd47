"""The recent-posts index: repeated writes change nothing, and only on the named shard."""

from datetime import UTC, datetime

import pytest
from django.conf import settings

from infra.sharding.sql import fetch_all
from posts.ids import PostId
from timelines.recent.actions.index_posts import index_recent
from timelines.recent.days import first_second, keep_days
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


def test_arrival_counts_up_by_shard_in_every_partition():
    """A repeated post keeps its number. All partitions of a shard share one count."""
    today = datetime.now(UTC).date()
    new_day = Entry.of_post(PostId(first_second(today), 9, 0))
    for alias in settings.SHARD_ALIASES:
        keep_days(alias, today)
        for entry in (REPOST, new_day, POST, REPOST):
            index_recent(alias, [entry])
        arrivals = dict(fetch_all(alias, "SELECT author_id, arrival FROM timelines_recentpost"))
        assert arrivals[8] < arrivals[9] < arrivals[7]
