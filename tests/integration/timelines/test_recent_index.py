"""The recent-posts index: repeated writes change nothing, and only on the named shard.

backfill recent-posts fills a shard's index from all shards, and sets the mark at the end.
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from infra.clock import now_ms
from infra.jobs.types import Work
from infra.sharding.sql import execute, fetch_all
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import PostId
from tests.dying import armed, dying_at
from tests.integration.jobs.outcomes import Outcome
from tests.world import make_accounts, publish
from timelines.jobs.recent_index import backfill_recent_posts
from timelines.recent.actions.index_posts import backfill_recent, index_recent
from timelines.recent.actions.settle_posts import SETTLE_MS, settle_recent
from timelines.recent.days import PARTITIONS, drop_old_days, first_second
from timelines.recent.low_water_mark import find_low_water_mark
from timelines.types import Entry
from timelines.verbs import BackfillRecentPosts

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


NOW = datetime.now(UTC)
TODAY = NOW.date()
MARK = first_second(TODAY - timedelta(days=settings.RECENT_DAYS))


def marks():
    return [find_low_water_mark(alias) for alias in settings.SHARD_ALIASES]


@pytest.fixture
def expected(world):
    """Posts of people on every shard; one too old, one deleted, one a repost; none is drained."""
    people = make_accounts(6)
    long_ago = NOW - timedelta(days=settings.RECENT_DAYS + 2)
    publish(people[0], clock_s=long_ago.timestamp)
    posts = [publish(person) for person in people]
    delete_post(posts[1])
    event = repost(people[2], posts[0])
    kept = [Entry.of_post(post) for post in posts if post != posts[1]] + [Entry(event, posts[0])]
    clear()
    yield sorted(map(row_of, kept))
    for alias in settings.SHARD_ALIASES:
        for name in PARTITIONS.names(alias):
            execute(alias, f"DROP TABLE {name}")


def clear():
    for alias in settings.SHARD_ALIASES:
        execute(alias, "DELETE FROM timelines_recentpost")
        execute(alias, "DELETE FROM timelines_lowwatermark")


def row_of(entry):
    event, original = entry
    shown = (None, None) if event == original else (original.author_id, original.moment)
    return event.author_id, event.moment, *shown


def test_every_shard_has_everybodys_recent_posts(expected):
    looked = Outcome(BackfillRecentPosts(), "--dry-run")
    assert looked.out == "6 accounts looked at, 24 would change, 0 failed\n"
    assert [rows(alias) for alias in settings.SHARD_ALIASES] == [[]] * 4
    assert marks() == [None] * 4
    done = Outcome(BackfillRecentPosts(), "--batch-size", "2")
    assert done.out == "6 accounts done, 24 changed, 0 failed\n"
    assert [rows(alias) for alias in settings.SHARD_ALIASES] == [expected] * 4
    assert marks() == [MARK] * 4


def test_second_run_has_nothing_to_look_at_unless_it_is_asked_again(expected):
    Outcome(BackfillRecentPosts())
    assert Outcome(BackfillRecentPosts()).out == "0 accounts done, 0 failed\n"
    execute("shard2", "DELETE FROM timelines_recentpost")
    assert Outcome(BackfillRecentPosts(), "--again").out == "6 accounts done, 6 changed, 0 failed\n"
    assert rows("shard2") == expected


def test_index_in_doubt_is_not_read_until_it_is_filled_again(expected):
    Outcome(BackfillRecentPosts())
    seen = []
    with armed("recent_posts.backfilled", lambda: seen.append(marks())):
        Outcome(BackfillRecentPosts(), "--again", "--shard", "shard1")
    assert seen[0] == [MARK, None, MARK, MARK]
    assert marks() == [MARK] * 4


def test_new_shard_alone_is_filled(expected):
    Outcome(BackfillRecentPosts(), "--shard", "shard3")
    assert [rows(alias) for alias in settings.SHARD_ALIASES] == [[], [], [], expected]
    assert marks() == [None, None, None, MARK]


def test_installation_without_posts_is_complete_at_once(world):
    clear()
    assert Outcome(BackfillRecentPosts()).out == "0 accounts done, 0 failed\n"
    assert marks() == [MARK] * 4


def test_run_with_a_limit_promises_nothing_until_it_is_resumed(expected):
    Outcome(BackfillRecentPosts(), "--limit", "4")
    assert marks() == [None] * 4
    Outcome(BackfillRecentPosts(), "--resume")
    assert marks() == [MARK] * 4
    assert rows("shard0") == expected


def test_killed_anywhere_it_promises_nothing_and_the_next_run_ends_the_same(expected):
    with dying_at("recent_posts.backfilled"):
        list(backfill_recent_posts(Work(settings.SHARD_ALIASES)))
    assert marks() == [None] * 4
    Outcome(BackfillRecentPosts())
    assert rows("shard0") == expected
    assert marks() == [MARK] * 4


def test_what_is_indexed_meanwhile_stays(expected):
    with armed("recent_posts.backfilled", lambda: index_recent("shard0", [LATE])):
        Outcome(BackfillRecentPosts())
    assert rows("shard0") == sorted([*expected, row_of(LATE)])


LATE = Entry.of_post(PostId(first_second(TODAY) + 1, 77, 0))


def test_mark_is_of_the_day_it_ends(expected):
    days = iter([TODAY, TODAY, TODAY + timedelta(days=1)])
    last = TODAY + timedelta(days=1)
    jobs = backfill_recent_posts(Work(["shard0"]), today=lambda: next(days, last))
    list(jobs)
    assert find_low_water_mark("shard0") == MARK + 86_400
