"""backfill_recent_posts fills a shard's index from all shards, and sets the mark at the end."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from infra.jobs.types import Work
from infra.sharding.sql import execute, fetch_all
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import PostId
from tests.dying import armed, dying_at
from tests.integration.jobs.outcomes import Outcome
from tests.world import make_accounts, publish
from timelines.jobs.backfill_recent_posts import backfill_recent_posts
from timelines.management.commands.backfill_recent_posts import Command
from timelines.recent.actions.index_posts import index_recent
from timelines.recent.days import PARTITIONS, first_second
from timelines.recent.low_water_mark import find_low_water_mark
from timelines.types import Entry

ROWS = (
    "SELECT author_id, moment, shown_author, shown_moment FROM timelines_recentpost ORDER BY 1, 2"
)
NOW = datetime.now(UTC)
TODAY = NOW.date()
MARK = first_second(TODAY - timedelta(days=settings.RECENT_DAYS))


def rows(alias):
    return fetch_all(alias, ROWS)


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
    looked = Outcome(Command(), "--dry-run")
    assert looked.out == "6 accounts looked at, 24 would change, 0 failed\n"
    assert [rows(alias) for alias in settings.SHARD_ALIASES] == [[]] * 4
    assert marks() == [None] * 4
    done = Outcome(Command(), "--batch-size", "2")
    assert done.out == "6 accounts done, 24 changed, 0 failed\n"
    assert [rows(alias) for alias in settings.SHARD_ALIASES] == [expected] * 4
    assert marks() == [MARK] * 4


def test_second_run_has_nothing_to_look_at_unless_it_is_asked_again(expected):
    Outcome(Command())
    assert Outcome(Command()).out == "0 accounts done, 0 failed\n"
    execute("shard2", "DELETE FROM timelines_recentpost")
    assert Outcome(Command(), "--again").out == "6 accounts done, 6 changed, 0 failed\n"
    assert rows("shard2") == expected


def test_index_in_doubt_is_not_read_until_it_is_filled_again(expected):
    Outcome(Command())
    seen = []
    with armed("recent_posts.backfilled", lambda: seen.append(marks())):
        Outcome(Command(), "--again", "--shard", "shard1")
    assert seen[0] == [MARK, None, MARK, MARK]
    assert marks() == [MARK] * 4


def test_new_shard_alone_is_filled(expected):
    Outcome(Command(), "--shard", "shard3")
    assert [rows(alias) for alias in settings.SHARD_ALIASES] == [[], [], [], expected]
    assert marks() == [None, None, None, MARK]


def test_installation_without_posts_is_complete_at_once(world):
    clear()
    assert Outcome(Command()).out == "0 accounts done, 0 failed\n"
    assert marks() == [MARK] * 4


def test_run_with_a_limit_promises_nothing_until_it_is_resumed(expected):
    Outcome(Command(), "--limit", "4")
    assert marks() == [None] * 4
    Outcome(Command(), "--resume")
    assert marks() == [MARK] * 4
    assert rows("shard0") == expected


def test_killed_anywhere_it_promises_nothing_and_the_next_run_ends_the_same(expected):
    with dying_at("recent_posts.backfilled"):
        list(backfill_recent_posts(Work(settings.SHARD_ALIASES)))
    assert marks() == [None] * 4
    Outcome(Command())
    assert rows("shard0") == expected
    assert marks() == [MARK] * 4


def test_what_is_indexed_meanwhile_stays(expected):
    with armed("recent_posts.backfilled", lambda: index_recent("shard0", [LATE])):
        Outcome(Command())
    assert rows("shard0") == sorted([*expected, row_of(LATE)])


LATE = Entry.of_post(PostId(first_second(TODAY) + 1, 77, 0))


def test_mark_is_of_the_day_it_ends(expected):
    days = iter([TODAY, TODAY, TODAY + timedelta(days=1)])
    last = TODAY + timedelta(days=1)
    jobs = backfill_recent_posts(Work(["shard0"]), today=lambda: next(days, last))
    list(jobs)
    assert find_low_water_mark("shard0") == MARK + 86_400
