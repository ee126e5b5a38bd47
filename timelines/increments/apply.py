"""Brings a machine's board up to the stream. One process at a time does (keeper.py)."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from prometheus_client import Counter

from posts.ids import EPOCH
from timelines.increments.board import CELLS, Board, Position, Word, grow, make_board, open_board
from timelines.increments.stream import Integers, News, Posted, begin_stream, read_news

# Within so many seconds of being posted a post is in the stream, and so far clocks of machines may
# be apart: what comes later counts as posted so long before it came.
LAG_S = 5
APPLIED = Counter("tideline_increments_posts_total", "Posts told by the stream")
BEGINNINGS = Counter("tideline_increments_beginnings_total", "Times the stream was lost or new")


class Source(NamedTuple):
    """The stream, as timelines/increments/stream.py has it."""

    begin: Callable[[], Position] = begin_stream
    read: Callable[[Position], News | None] = read_news


class Applier:
    """Follows the stream for one board.

    Safety: killed anywhere, the next one goes on or begins anew; applying twice changes nothing.
    """

    def __init__(self, path: Path, clock_ms: Callable[[], int], source: Source) -> None:
        self._path = path
        self._clock_ms = clock_ms
        self._source = source
        self._board: Board | None = None

    def catch_up(self) -> None:
        """Everything in the stream by now is on the board. Raises RedisError, OSError.

        Cost: one round trip and 25 µs, for 1,000 posts half a millisecond more.
        """
        board = self._find_board()
        while not self._step(board):
            board = self._board or board

    def _step(self, board: Board) -> bool:
        """Whether that was all."""
        position = board.position
        news = self._source.read(position) if position else None
        if news is None:
            self._begin(board)
            return True
        board = self._board = self._with_room(board, news.posted.authors)
        apply_posts(board, news.posted)
        np.add.at(board.cells, news.readers % CELLS, 1)
        board.move(news.position)
        if news.now is not None:
            self._finish(board, news.now)
        return news.now is not None

    def _begin(self, board: Board) -> None:
        """What came before is unknown; of a clock that is ahead, what was posted in a while too."""
        position = self._source.begin()
        second = position.ms // 1000 - EPOCH
        board.begin(position, second + LAG_S)
        BEGINNINGS.inc()
        self._finish(board, second)

    def _finish(self, board: Board, now: int) -> None:
        board.head[Word.CAUGHT_UP] = now
        board.head[Word.APPLIED_MS] = self._clock_ms()

    def _find_board(self) -> Board:
        board = self._board
        if board is None or not board.is_at(self._path):
            board = self._board = open_board(self._path) or make_board(self._path)
        return board

    def _with_room(self, board: Board, authors: Integers) -> Board:
        most = int(authors.max(initial=0))
        return board if most + 1 < len(board.latest) else grow(self._path, board, most)


def apply_posts(board: Board, posted: Posted) -> None:
    """Each author's cell is their latest post's; 0.4 ms for 1,000 anywhere.

    What comes late counts as posted LAG_S before it came, or those who asked meanwhile would never
    hear of it. Not what is told again: the author's cell is past it already.
    """
    APPLIED.inc(len(posted.authors))
    values = posted.seconds * 2 + (posted.sequences > 0)
    is_news = values > board.latest[posted.authors]
    lifted = np.maximum(values, (posted.arrived - LAG_S) * 2)[is_news]
    np.maximum.at(board.latest, posted.authors[is_news], lifted.astype(np.uint32))
