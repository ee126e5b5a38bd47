"""The file of the board: what is taken for one, how it grows, what lies beyond its end."""

import os
from pathlib import Path

import numpy as np
import pytest

from posts.ids import PostId
from timelines.increments.board import (
    CHUNK,
    FIXED_BYTES,
    Board,
    Position,
    Word,
    grow,
    make_board,
    open_board,
)
from timelines.increments.questions import find_authors

SINCE = PostId(100, 5, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "increments.board"


def found(board: Board, *ids: int, since: PostId = SINCE) -> list[int] | None:
    return find_authors(board, np.array(sorted(ids), np.int64), since)


def test_a_board_is_found_as_it_was_left(path: Path) -> None:
    board = make_board(path)
    board.latest[7] = 210
    board.begin(Position(5, 6, 2**64 - 1), 90)
    board.head[Word.APPLIED_MS] = 1
    again = open_board(path)
    assert again is not None
    assert (again.position, again.head[Word.EPOCH]) == (Position(5, 6, 2**64 - 1), 1)
    assert found(again, 7) == [7]


def test_the_same_second_goes_by_author_and_the_own_by_the_spare_bit(path: Path) -> None:
    """The example of the module: second 100 twice is 200, and 201 when it has more posts."""
    board = make_board(path)
    board.latest[[4, 6, 7, 8]] = 200, 200, 201, 199
    assert found(board, 4, 6, 7, 8) == [7, 6], "after 5 in second 100"
    board.latest[5] = 200
    assert found(board, 5) == [], "it is the entry one has"
    board.latest[5] = 201
    assert found(board, 5) == [5], "there is a second one"
    assert found(board, 5, since=PostId(100, 5, 1)) is None, "or a third, which is not told apart"
    assert found(board, 5, since=PostId(99, 9, 0)) == [5]


def test_newest_come_first(path: Path) -> None:
    board = make_board(path)
    board.latest[[1, 2, 3]] = 220, 240, 220
    assert found(board, 1, 2, 3) == [2, 3, 1]


def test_an_account_beyond_the_end_has_not_posted(path: Path) -> None:
    board = make_board(path)
    board.latest[:-1] = 300
    assert found(board, CHUNK - 1, CHUNK, 2**31) == []


def test_it_grows_and_keeps_what_it_has(path: Path) -> None:
    board = make_board(path)
    board.latest[7] = 300
    for author in (CHUNK - 1, 3 * CHUNK):
        grown = grow(path, board, author)
        assert board.has_grown
        assert not grown.has_grown
        grown.latest[author] = 300
        assert found(grown, 7, author, author + 1) == [author, 7]
        board = grown
    assert path.stat().st_size == FIXED_BYTES + 4 * 4 * CHUNK
    assert path.stat().st_blocks * 512 >= path.stat().st_size, "a hole could not be filled later"


def test_the_last_second_there_can_be(path: Path) -> None:
    board = make_board(path)
    board.latest[7] = 2**32 - 1
    assert found(board, 7, since=PostId(36**6 - 1, 1, 0)) == []


@pytest.mark.parametrize("word", [Word.MAGIC, Word.LAYOUT, Word.BOOT])
def test_a_foreign_one_is_not_used(path: Path, word: Word) -> None:
    board = make_board(path)
    board.head[word] += 1
    assert open_board(path) is None


@pytest.mark.parametrize("size", [0, 1, 4_096, FIXED_BYTES, FIXED_BYTES + 4 * CHUNK - 1])
def test_a_truncated_one_is_not_used(path: Path, size: int) -> None:
    make_board(path)
    os.truncate(path, size)
    assert open_board(path) is None
    assert found(make_board(path), 7) == []


def test_a_grown_one_that_was_cut_is_not_used(path: Path) -> None:
    grow(path, make_board(path), CHUNK)
    os.truncate(path, FIXED_BYTES + 4 * CHUNK + 2)
    assert open_board(path) is None


def test_a_new_one_leaves_those_who_mapped_the_old_alone(path: Path) -> None:
    old = make_board(path)
    old.latest[7] = 300
    make_board(path)
    assert found(old, 7) == [7]
    assert not old.is_at(path)
