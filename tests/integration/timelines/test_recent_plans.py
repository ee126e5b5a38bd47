"""Plans of the queries on the recent-posts index, on a week of many authors."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import SEQUENCES, PostId, second_of
from tests.budgets import count_calls
from tests.plans import nodes_of, settle
from timelines.recent.days import PARTITIONS, first_second, kept_days
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.recent.queries.newest_posts import Wanted, read_index
from timelines.recent.queries.own_posts import read_packs
from timelines.recent.queries.recent_posts import load_recent
from timelines.types import TimelineAuthors, TimeRange

READER, AUTHORS, DAYS = 1, 20_000, 2
ALIAS = "shard1"
NOW = datetime(2031, 3, 10, 23, 30, tzinfo=UTC)
# Four posts a day of each author.
FILL = """
INSERT INTO timelines_recentpost
SELECT n * 7919::bigint %% %s + 2, (%s - n * 86400::bigint / (%s * 4)) * 1296
FROM generate_series(1, %s) n
"""


@pytest.fixture
def week(world):
    assert shard_of(READER) == ALIAS
    PARTITIONS.make(ALIAS, kept_days(NOW.date()))
    now = second_of(NOW.timestamp())
    execute(ALIAS, FILL, (AUTHORS, now, AUTHORS, AUTHORS * 4 * DAYS))
    lower_low_water_mark(ALIAS, first_second(NOW.date() - timedelta(days=settings.RECENT_DAYS)))
    settle(ALIAS, "timelines_recentpost")
    yield
    for name in PARTITIONS.names(ALIAS):
        execute(ALIAS, f"DROP TABLE {name}")


def run_nodes(statement):
    """Those that ran."""
    return [node for node in nodes_of(statement) if node["Actual Loops"]]


def index_scans(followees, time_range, newest_first):
    """Scans of the index that a pull of 60 ran, how often, and with how many rows a time."""
    authors = TimelineAuthors(READER, range(2, 2 + followees))
    with count_calls() as calls:
        assert len(load_recent(authors, time_range, 60, newest_first, NOW.timestamp).entries) == 60
    (statement,) = calls.statements
    scans = [node for node in run_nodes(statement) if "recentpost" in node.get("Relation Name", "")]
    assert all(node["Node Type"] == "Index Only Scan" for node in scans if node["Actual Rows"])
    return scans


def rows_read(scans):
    return sum(node["Actual Rows"] * node["Actual Loops"] for node in scans)


def days_of(scans):
    return {node["Relation Name"] for node in scans if node["Actual Rows"]}


@pytest.mark.parametrize("newest_first", [True, False])
def test_who_has_enough_within_an_hour_reads_no_more(week, newest_first):
    above = PostId(first_second(NOW.date()), 0, 0)
    scans = index_scans(500, TimeRange(above), newest_first)
    assert rows_read(scans) <= 500 * 4 / 24 * 1.5
    assert days_of(scans) == {PARTITIONS.name(NOW.date())}


def test_who_follows_few_reads_all_they_posted_at_most(week):
    scans = index_scans(20, TimeRange(), True)
    assert 60 <= rows_read(scans) <= 20 * 4 * DAYS * 1.1


def test_days_below_the_mark_are_not_looked_at(week):
    execute(ALIAS, "DELETE FROM timelines_lowwatermark")
    lower_low_water_mark(ALIAS, first_second(NOW.date()) + 3_600 * 20)
    authors = TimelineAuthors(READER, range(2, 20))
    with count_calls() as calls:
        load_recent(authors, TimeRange(), 450, True, NOW.timestamp)
    scans = [
        n for n in run_nodes(calls.statements[0]) if "recentpost" in n.get("Relation Name", "")
    ]
    assert days_of(scans) == {PARTITIONS.name(NOW.date())}


def test_newest_of_everybody_do_not_read_a_day(week):
    with count_calls() as calls:
        found = read_index(ALIAS, Wanted(100, second_of(NOW.timestamp() + 1) * SEQUENCES))
    assert len(found) == 100
    assert list(found) == sorted(found, reverse=True)
    (statement,) = calls.statements
    names = {node.get("Relation Name") for node in run_nodes(statement)} - {None}
    later = {name for name in names if name > PARTITIONS.name(NOW.date())}
    assert names <= {PARTITIONS.name(NOW.date()), *later}


def test_packs_read_the_rows_of_their_authors_only(week):
    """Also where all rows are late: this fixture wrote them long before their seconds."""
    execute(ALIAS, "UPDATE timelines_recentpost SET settled = arrival")
    settle(ALIAS, "timelines_recentpost")
    with count_calls() as calls:
        found = read_packs(ALIAS, range(2, 22))
    rows = sum(len(pack.records) for pack in found.values()) // 10
    scans = [
        n for n in run_nodes(calls.statements[0]) if "recentpost" in n.get("Relation Name", "")
    ]
    assert rows >= 20 * 4 * DAYS
    assert rows_read(scans) <= 2 * rows
