"""Which accounts posted between two posts: random posts and ranges against plain lists.

The file of the index: which file is usable, how it grows, and ids beyond its end.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posts.ids import PostId
from timelines.increments.last_post_index import (
    CELL_BYTES,
    CHUNK,
    HEADER_BYTES,
    HISTORY_PERIODS,
    LATEST_SHIFT,
    PERIOD_S,
    HeaderWord,
    LastPostIndex,
    StreamPosition,
    create_index,
    grow_index,
    open_index,
)
from timelines.increments.post_stream import LAG_S, PostColumns
from timelines.increments.posts_between import PostsBetween, find_authors_between
from timelines.increments.queries import find_authors
from timelines.increments.updater import apply_posts

BEGIN_S = 1_000 * PERIOD_S
ENDS_S = BEGIN_S + 2 * HISTORY_PERIODS * PERIOD_S
AUTHORS = range(1, 5)


class Arrived(NamedTuple):
    post: PostId
    arrived: int
    is_unsure: bool = False

    @property
    def is_late(self) -> bool:
        return self.counts_as > self.post.second

    @property
    def counts_as(self) -> int:
        return max(self.post.second, self.arrived - LAG_S)


@pytest.fixture
def index(tmp_path: Path) -> LastPostIndex:
    return create_index(tmp_path / "increments.index")


def apply(index: LastPostIndex, posts: Sequence[Arrived]) -> None:
    rows = [
        (one.post.author_id, one.post.second, one.post.sequence, one.arrived, one.is_unsure)
        for one in posts
    ]
    columns = [np.array([row[n] for row in rows], np.int64) for n in range(5)]
    apply_posts(index, PostColumns(*columns))


def in_time(*seconds: int, author: int = 1) -> list[Arrived]:
    return [Arrived(PostId(second, author, 0), second) for second in seconds]


def ask(index: LastPostIndex, since: PostId, until: PostId) -> PostsBetween:
    found = find_authors_between(index, np.array(AUTHORS, np.int64), since, until)
    assert found is not None
    return found


# Clustered, so that posts share seconds, periods and ranges.
seconds = st.one_of(
    st.integers(BEGIN_S, ENDS_S),
    st.integers(BEGIN_S, BEGIN_S + 5),
    st.integers(BEGIN_S // PERIOD_S, ENDS_S // PERIOD_S).map(lambda period: period * PERIOD_S),
    st.integers(ENDS_S - 3 * PERIOD_S, ENDS_S),
)
delays = st.sampled_from([0, 0, 0, LAG_S, LAG_S + 1, 300, HISTORY_PERIODS * PERIOD_S])
posted = st.tuples(st.sampled_from(AUTHORS), seconds, delays)
edges = st.builds(PostId, seconds, st.sampled_from([0, *AUTHORS]), st.integers(0, 2))


@settings(max_examples=400, deadline=None)
@given(
    batches=st.lists(st.lists(posted, min_size=1, max_size=6), min_size=1, max_size=8),
    ranges=st.lists(st.tuples(edges, edges).map(sorted), min_size=1, max_size=8),
)
def test_answers_are_what_plain_lists_say(
    batches: list[list[tuple[int, int, int]]], ranges: list[list[PostId]]
) -> None:
    applied: list[Arrived] = []
    with TemporaryDirectory() as folder:
        index = create_index(Path(folder) / "increments.index")
        for batch in batches:
            arrived = list(_numbered(batch, applied))
            apply(index, arrived)
            applied += arrived
        cells = index.cells[:8].tolist()
        apply(index, [one._replace(arrived=ENDS_S + 9) for one in applied])
        assert index.cells[:8].tolist() == cells, "announced again"
        for since, until in ranges:
            _check(ask(index, since, until), applied, since, until)


def _numbered(
    batch: Sequence[tuple[int, int, int]], before: Sequence[Arrived]
) -> Iterator[Arrived]:
    """With the sequences that the author's posts of one second have."""
    taken = [(one.post.author_id, one.post.second) for one in before]
    for author, second, delay in batch:
        sequence = taken.count((author, second))
        taken.append((author, second))
        yield Arrived(PostId(second, author, sequence), second + delay)


def _check(found: PostsBetween, applied: Sequence[Arrived], since: PostId, until: PostId) -> None:
    by_author = {a: [one for one in applied if one.post.author_id == a] for a in AUTHORS}
    right = {a for a, posts in by_author.items() if any(since < p.post < until for p in posts)}
    certain, perhaps = set(found.certain), set(found.perhaps)
    assert right <= certain | perhaps, "no author of the range is denied"
    assert not certain & perhaps
    for author in certain - right:
        late = [one.counts_as for one in by_author[author] if one.is_late]
        assert any(since.second <= one <= until.second for one in late), "only late posts count so"
    for author in perhaps:
        moments = {s for one in by_author[author] for s in (one.post.second, one.counts_as)}
        periods = {moment // PERIOD_S for moment in moments}
        first, last = since.second // PERIOD_S, until.second // PERIOD_S
        touches = any(first <= period <= last for period in periods)
        assert touches or max(periods) - first >= HISTORY_PERIODS, "the history tells"


def test_the_example_of_the_layout(index: LastPostIndex) -> None:
    apply(index, in_time(100, 101, 300))
    assert index.cells[1] == 300 << 33 | 0b101


def test_an_unsure_post_marks_its_author_while_the_history_has_it(index: LastPostIndex) -> None:
    last = BEGIN_S + HISTORY_PERIODS * PERIOD_S
    for second, is_unsure, marked in (
        (BEGIN_S, False, False),
        (BEGIN_S + 9, True, True),
        (BEGIN_S + 20, False, True),
        (last - 1, False, True),
        (last + HISTORY_PERIODS * PERIOD_S, False, False),
    ):
        [post] = in_time(second)
        apply(index, [post._replace(is_unsure=is_unsure)])
        assert (index.has_unsure([1, 2]), index.has_unsure([2])) == (marked, False)
        assert index.cells[1] >> np.uint64(33) == second


def test_the_latest_post_decides_if_it_is_older_than_the_end(index: LastPostIndex) -> None:
    apply(index, in_time(BEGIN_S + 5))
    for first, last, certain in ((4, 6, [1]), (5, 6, []), (1, 5, []), (6, 9, [])):
        since, until = PostId(BEGIN_S + first, 1, 0), PostId(BEGIN_S + last, 1, 0)
        found = ask(index, since, until)
        assert found.certain == certain
        assert found.perhaps == ([1] if last == 5 else []), "its period has the end of the range"


def test_whole_periods_are_certain_for_an_hour(index: LastPostIndex) -> None:
    """Three posts: 30 periods before the last one, 10 periods before it, and the last one."""
    last = BEGIN_S + HISTORY_PERIODS * PERIOD_S
    apply(index, in_time(last - 30 * PERIOD_S, last - 10 * PERIOD_S, last))

    def between(first: int, end: int) -> PostsBetween:
        """Periods before the last post, counted back."""
        return ask(
            index, PostId(last - first * PERIOD_S, 0, 0), PostId(last - end * PERIOD_S, 0, 0)
        )

    assert between(30, 29) == between(11, 9) == PostsBetween([1], [])
    assert between(28, 11) == between(8, 1) == PostsBetween([], [])
    assert between(40, 32) == PostsBetween([], [1]), "further back than the history"


def test_a_post_in_the_first_second_of_a_period_may_be_outside(index: LastPostIndex) -> None:
    apply(index, in_time(BEGIN_S, BEGIN_S + 9 * PERIOD_S))
    until = PostId(BEGIN_S + 2 * PERIOD_S, 0, 0)
    assert ask(index, PostId(BEGIN_S, 1, 0), until) == PostsBetween([], [1])
    assert ask(index, PostId(BEGIN_S, 0, 0), until) == PostsBetween([1], [])


def test_a_late_post_counts_in_its_own_second_too(index: LastPostIndex) -> None:
    apply(index, [Arrived(PostId(BEGIN_S, 1, 0), BEGIN_S + 1_000)])
    apply(index, in_time(BEGIN_S + 2_000))
    whole = PostId(BEGIN_S - PERIOD_S, 0, 0), PostId(BEGIN_S + PERIOD_S, 0, 0)
    assert ask(index, *whole) == PostsBetween([1], [])


def test_a_range_from_before_the_index_is_unknown(index: LastPostIndex) -> None:
    index.header[HeaderWord.COMPLETE_FROM] = BEGIN_S
    ids = np.array([1], np.int64)
    until = PostId(BEGIN_S + 9, 0, 0)
    assert find_authors_between(index, ids, PostId(BEGIN_S - 1, 0, 0), until) is None
    assert find_authors_between(index, ids, PostId(BEGIN_S, 0, 0), until) == PostsBetween([], [])


SINCE = PostId(100, 5, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "increments.index"


def cell(value: int) -> int:
    """The cell of this second * 2, plus the spare bit."""
    return value << LATEST_SHIFT


def found(index: LastPostIndex, *ids: int, since: PostId = SINCE) -> list[int] | None:
    return find_authors(index, np.array(sorted(ids), np.int64), since)


def test_an_index_is_opened_as_it_was_written(path: Path) -> None:
    index = create_index(path)
    index.cells[7] = cell(210)
    index.begin(StreamPosition(5, 6, 2**64 - 1), 90)
    index.header[HeaderWord.APPLIED_MS] = 1
    again = open_index(path)
    assert again is not None
    assert again.position == StreamPosition(5, 6, 2**64 - 1)
    assert found(again, 7) == [7]


def test_the_same_second_goes_by_author_and_the_own_by_the_spare_bit(path: Path) -> None:
    """The example of the module: second 100 twice is 200, and 201 when it has more posts."""
    index = create_index(path)
    index.cells[[4, 6, 7, 8]] = [cell(value) for value in (200, 200, 201, 199)]
    assert found(index, 4, 6, 7, 8) == [7, 6], "after 5 in second 100"
    index.cells[5] = cell(200)
    assert found(index, 5) == [], "it is the entry one has"
    index.cells[5] = cell(201)
    assert found(index, 5) == [5], "there is a second one"
    assert found(index, 5, since=PostId(100, 5, 1)) is None, "or a third, which is not told apart"
    assert found(index, 5, since=PostId(99, 9, 0)) == [5]


def test_newest_come_first(path: Path) -> None:
    index = create_index(path)
    index.cells[[1, 2, 3]] = [cell(value) for value in (220, 240, 220)]
    assert found(index, 1, 2, 3) == [2, 3, 1]


def test_an_account_beyond_the_end_has_not_posted(path: Path) -> None:
    index = create_index(path)
    index.cells[:-1] = cell(300)
    assert found(index, CHUNK - 1, CHUNK, 2**31) == []


def test_it_grows_and_keeps_what_it_has(path: Path) -> None:
    index = create_index(path)
    index.cells[7] = cell(300)
    for author in (CHUNK - 1, 3 * CHUNK):
        grown = grow_index(path, index, author)
        assert index.has_grown
        assert not grown.has_grown
        grown.cells[author] = cell(300)
        assert found(grown, 7, author, author + 1) == [author, 7]
        index = grown
    assert path.stat().st_size == HEADER_BYTES + CELL_BYTES * 4 * CHUNK
    assert path.stat().st_blocks * 512 >= path.stat().st_size, "a hole could not be filled later"


def test_the_last_second_there_can_be(path: Path) -> None:
    index = create_index(path)
    index.cells[7] = cell(2**32 - 1)
    assert found(index, 7, since=PostId(36**6 - 1, 1, 0)) == []


@pytest.mark.parametrize("word", [HeaderWord.MAGIC, HeaderWord.LAYOUT, HeaderWord.BOOT])
def test_a_foreign_one_is_not_used(path: Path, word: HeaderWord) -> None:
    index = create_index(path)
    index.header[word] += 1
    assert open_index(path) is None


@pytest.mark.parametrize("size", [0, 1, HEADER_BYTES, HEADER_BYTES + CELL_BYTES * CHUNK - 1])
def test_a_truncated_one_is_not_used(path: Path, size: int) -> None:
    create_index(path)
    os.truncate(path, size)
    assert open_index(path) is None
    assert found(create_index(path), 7) == []


def test_a_grown_one_that_was_cut_is_not_used(path: Path) -> None:
    grow_index(path, create_index(path), CHUNK)
    os.truncate(path, HEADER_BYTES + CELL_BYTES * CHUNK + 2)
    assert open_index(path) is None


def test_a_new_file_leaves_mappings_of_the_old_one_alone(path: Path) -> None:
    old = create_index(path)
    old.cells[7] = cell(300)
    create_index(path)
    assert found(old, 7) == [7]
    assert not old.is_at(path)
