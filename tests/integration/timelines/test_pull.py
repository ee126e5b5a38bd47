"""A pull from index and tables is a pull from the tables, wherever the index begins."""

import hypothesis
import pytest
from django.conf import settings
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import FIRST, LAST, PostId
from tests.budgets import count_calls
from tests.integration.timelines.indexed import delete_posts, index_everywhere, write_posts
from tests.world import clean
from timelines.queries.pull import pull, pull_from_tables
from timelines.recent.queries.recent_posts import load_recent
from timelines.types import Entry, TimelineAuthors, TimeRange

pytestmark = pytest.mark.usefixtures("world")
READER, FOLLOWEES, STRANGER = 1, [2, 3, 4, 7], 5
CIRCLE = TimelineAuthors(READER, FOLLOWEES)
# Around a few seconds, hours apart, so that every step and every tie is met.
SECONDS = [0, 1, 2, 3_600, 3_601, 20_000, 20_001, 90_000, 400_000, 400_001]

seconds = st.sampled_from(SECONDS)
ids = st.builds(PostId, seconds, st.sampled_from([READER, *FOLLOWEES, STRANGER]), st.integers(0, 2))
histories = st.lists(st.tuples(ids, st.none() | ids, st.booleans()), unique_by=lambda one: one[0])


def pages(circle, span, batch, newest_first):
    """As a page asks for ever more."""
    while True:
        entries = pull(circle, span, batch, newest_first)
        yield from entries
        if len(entries) < batch:
            return
        edge = entries[-1].event
        span = TimeRange(span.above, edge) if newest_first else TimeRange(edge, span.below)


@hypothesis.settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    histories, seconds, st.tuples(ids, ids).map(sorted) | st.just([FIRST, LAST]),
    st.integers(1, 4), st.booleans(),
)  # fmt: skip
def test_pull_is_what_the_tables_say(history, complete_from, bounds, batch, newest_first):
    clean()
    entries = [Entry(event, original or event) for event, original, _ in history]
    gone = {event for event, _, is_deleted in history if is_deleted}
    write_posts(entries)
    index_everywhere(entries, complete_from)
    delete_posts(gone)
    span = TimeRange(*bounds)
    found = [e for e in pages(CIRCLE, span, batch, newest_first) if e.event not in gone]
    assert found == pull_from_tables(CIRCLE.author_ids, span, len(entries) + 1, newest_first)


POSTS = [Entry.of_post(PostId(1000 + n, FOLLOWEES[n % 4], 0)) for n in range(12)]
OWN = Entry.of_post(PostId(1005, READER, 0))


@pytest.fixture
def home_shard():
    write_posts([*POSTS, OWN])
    index_everywhere([*POSTS, OWN], 1004)
    return shard_of(READER)


def test_above_the_mark_it_is_one_query_on_the_readers_shard(home_shard):
    with count_calls() as calls:
        assert len(pull(CIRCLE, TimeRange(), 5)) == 5
    assert calls.sql == {home_shard: 1}


def test_below_the_mark_it_is_one_more_a_shard(home_shard):
    with count_calls() as calls:
        assert len(pull(CIRCLE, TimeRange(), 11)) == 11
    assert calls.sql[home_shard] == 2
    assert all(count == 1 for alias, count in calls.sql.items() if alias != home_shard)


def test_span_above_the_mark_never_asks_the_tables(home_shard):
    for newest_first in (True, False):
        with count_calls() as calls:
            assert len(pull(CIRCLE, TimeRange(PostId(1006, 0, 0)), 50, newest_first)) == 6
        assert calls.sql == {home_shard: 1}


def test_without_a_mark_the_tables_answer(home_shard):
    execute(home_shard, "DELETE FROM timelines_lowwatermark")
    execute(home_shard, "DELETE FROM timelines_recentpost")
    assert len(pull(CIRCLE, TimeRange(), 50)) == 13
    assert load_recent(CIRCLE, TimeRange(), 50) == ([], None)


def test_mark_without_posts_says_there_are_none():
    index_everywhere([], 1004)
    assert load_recent(CIRCLE, TimeRange(), 50) == ([], 1004)


def test_ones_own_post_is_there_before_any_index_has_it():
    index_everywhere([], 0)
    write_posts([OWN])
    assert pull(CIRCLE, TimeRange(), 5) == [OWN]


def test_ones_own_deleted_post_is_gone_at_once(home_shard):
    delete_posts([OWN.event])
    assert OWN not in pull(CIRCLE, TimeRange(), 50)


def test_follower_of_nobody_has_their_own(home_shard):
    assert pull(TimelineAuthors(READER, []), TimeRange(), 5) == [OWN]


def test_each_shard_answers_from_its_own_index(home_shard):
    execute(home_shard, "DELETE FROM timelines_recentpost")
    assert load_recent(CIRCLE, TimeRange(), 50).entries == [OWN]
    for alias in settings.SHARD_ALIASES:
        if alias != home_shard:
            assert _one_of(alias).entries == POSTS[::-1][:8]


def _one_of(alias):
    reader = next(n for n in range(100, 200) if shard_of(n) == alias)
    return load_recent(TimelineAuthors(reader, FOLLOWEES), TimeRange(), 50)
