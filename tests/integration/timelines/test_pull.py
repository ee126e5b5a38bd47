"""A pull from index and tables is a pull from the tables, wherever the index begins."""

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import FIRST, LAST, PostId
from tests.budgets import count_calls
from tests.integration.timelines.drawn import examples
from tests.integration.timelines.indexed import delete_posts, index_everywhere, write_posts
from tests.world import clean
from timelines.queries.pull import pull, pull_from_tables
from timelines.recent.queries.recent_posts import load_recent
from timelines.types import Entry, TimelineAuthors, TimeRange

pytestmark = pytest.mark.usefixtures("world")
READER, FOLLOWEES, UNRELATED = 1, [2, 3, 4, 7], 5
AUTHORS = TimelineAuthors(READER, FOLLOWEES)
# Around a few seconds, hours apart, so that every step and every tie is met.
SECONDS = [0, 1, 2, 3_600, 3_601, 20_000, 20_001, 90_000, 400_000, 400_001]

seconds = st.sampled_from(SECONDS)
ids = st.builds(
    PostId, seconds, st.sampled_from([READER, *FOLLOWEES, UNRELATED]), st.integers(0, 2)
)


def repost_of(happening):
    """What happens once only: each event, and an author's repost of a post (post_reposted_once)."""
    event, original, _ = happening
    return event if original is None else (event.author_id, original)


# An event, the post that it reposts (None: it is no repost), and whether it is deleted.
histories = st.lists(
    st.tuples(ids, st.none() | ids, st.booleans()), unique_by=(lambda one: one[0], repost_of)
)


def pages(authors, time_range, batch, newest_first):
    """Entries as a client reads them, page after page."""
    while True:
        entries = pull(authors, time_range, batch, newest_first)
        yield from entries
        if len(entries) < batch:
            return
        edge = entries[-1].event
        if newest_first:
            time_range = TimeRange(time_range.above, edge)
        else:
            time_range = TimeRange(edge, time_range.below)


@examples(50)
@given(
    histories, seconds, st.tuples(ids, ids).map(sorted) | st.just([FIRST, LAST]),
    st.integers(1, 4), st.booleans(),
)  # fmt: skip
def test_pull_is_what_the_tables_say(
    each_index, history, complete_from, bounds, batch, newest_first
):
    clean()
    entries = [Entry(event, original or event) for event, original, _ in history]
    deleted = {event for event, _, is_deleted in history if is_deleted}
    write_posts(entries)
    index_everywhere(entries, complete_from)
    delete_posts(deleted)
    time_range = TimeRange(*bounds)
    found = [e for e in pages(AUTHORS, time_range, batch, newest_first) if e.event not in deleted]
    assert found == pull_from_tables(AUTHORS.author_ids, time_range, len(entries) + 1, newest_first)


POSTS = [Entry.of_post(PostId(1000 + n, FOLLOWEES[n % 4], 0)) for n in range(12)]
OWN = Entry.of_post(PostId(1005, READER, 0))


@pytest.fixture
def home_shard():
    write_posts([*POSTS, OWN])
    index_everywhere([*POSTS, OWN], 1004)
    return shard_of(READER)


def test_above_the_mark_it_is_one_query_on_the_readers_shard(home_shard):
    with count_calls() as calls:
        assert len(pull(AUTHORS, TimeRange(), 5)) == 5
    assert calls.sql == {home_shard: 1}


def test_below_the_mark_it_is_one_more_a_shard(home_shard):
    with count_calls() as calls:
        assert len(pull(AUTHORS, TimeRange(), 11)) == 11
    assert calls.sql[home_shard] == 2
    assert all(count == 1 for alias, count in calls.sql.items() if alias != home_shard)


def test_a_range_above_the_mark_never_asks_the_tables(home_shard):
    for newest_first in (True, False):
        with count_calls() as calls:
            assert len(pull(AUTHORS, TimeRange(PostId(1006, 0, 0)), 50, newest_first)) == 6
        assert calls.sql == {home_shard: 1}


def test_without_a_mark_the_tables_answer(home_shard):
    execute(home_shard, "DELETE FROM timelines_lowwatermark")
    execute(home_shard, "DELETE FROM timelines_recentpost")
    assert len(pull(AUTHORS, TimeRange(), 50)) == 13
    assert load_recent(AUTHORS, TimeRange(), 50) == ([], None)


def test_mark_without_posts_says_there_are_none():
    index_everywhere([], 1004)
    assert load_recent(AUTHORS, TimeRange(), 50) == ([], 1004)


def test_ones_own_post_is_there_before_any_index_has_it(each_index):
    index_everywhere([], 0)
    write_posts([OWN])
    assert pull(AUTHORS, TimeRange(), 5) == [OWN]


def test_ones_own_deleted_post_is_deleted_at_once(each_index, home_shard):
    delete_posts([OWN.event])
    assert OWN not in pull(AUTHORS, TimeRange(), 50)


def test_follower_of_nobody_has_their_own(each_index, home_shard):
    assert pull(TimelineAuthors(READER, []), TimeRange(), 5) == [OWN]


def test_each_shard_answers_from_its_own_index(home_shard):
    execute(home_shard, "DELETE FROM timelines_recentpost")
    assert load_recent(AUTHORS, TimeRange(), 50).entries == [OWN]
    for alias in settings.SHARD_ALIASES:
        if alias != home_shard:
            assert _one_of(alias).entries == POSTS[::-1][:8]


def _one_of(alias):
    reader = next(n for n in range(100, 200) if shard_of(n) == alias)
    return load_recent(TimelineAuthors(reader, FOLLOWEES), TimeRange(), 50)
