"""The file of the index: which file is usable, how it grows, and ids beyond its end."""

import os
from pathlib import Path

import numpy as np
import pytest

from posts.ids import PostId
from timelines.increments.last_post_index import (
    CELL_BYTES,
    CHUNK,
    HEADER_BYTES,
    LATEST_SHIFT,
    HeaderWord,
    LastPostIndex,
    StreamPosition,
    create_index,
    grow_index,
    open_index,
)
from timelines.increments.queries import find_authors

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
