"""Brings the machine's last-post index up to the stream; one process at a time does it.

Every process that reads the index has a thread that tries to get a file lock (flock, released by
the kernel). The holder applies the stream every TURN_S. When it ends in any way, another process
takes over within TURN_S.
"""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import structlog
from prometheus_client import Counter
from redis.exceptions import RedisError

from infra.background import BackgroundThread
from posts.ids import EPOCH
from timelines.increments.last_post_index import (
    HISTORY,
    HISTORY_PERIODS,
    LATEST_SHIFT,
    PERIOD_S,
    UNSURE_SHIFT,
    HeaderWord,
    LastPostIndex,
    StreamPosition,
    create_index,
    grow_index,
    open_index,
)
from timelines.increments.post_stream import (
    LAG_S,
    Integers,
    PostColumns,
    StreamEntries,
    join_stream,
    read_stream,
)

TURN_S = 0.5
APPLIED = Counter("tideline_increments_posts_total", "Posts told by the stream")
RESETS = Counter("tideline_increments_resets_total", "Times the stream was lost or new")
log = structlog.get_logger()


class RuntimeFolderNotPrivate(OSError):
    """The folder for run-time files has another owner, or other users may write to it."""


class Updater(BackgroundThread):
    """The thread of this process that updates the index while it holds the lock."""

    name = "last-post index"

    def __init__(self, lock_path: Path, catch_up: Callable[[], None]) -> None:
        self._lock_path = lock_path
        self._catch_up = catch_up
        self._lock: int | None = None
        super().__init__()

    def reset(self) -> None:
        """A forked process must not hold the parent's lock after the parent has ended."""
        super().reset()
        self.release_lock()
        self._running = threading.Lock()
        self._is_failing = False

    def run_once(self) -> bool:
        """Catches up if this process has the lock or gets it; returns whether. Raises nothing."""
        with self._running:
            try:
                if not self._has_lock():
                    return False
                self._catch_up()
                self._is_failing = False
            except (RedisError, OSError, ValueError) as error:
                self._report(error)
            return True

    def stop(self) -> None:
        """Ends the thread and releases the lock."""
        super().stop()
        self.release_lock()

    def release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def run(self) -> None:
        self.run_once()
        while not self.stopped.wait(TURN_S):
            self.run_once()

    def _has_lock(self) -> bool:
        """Takes the lock if it is free. A lock on a deleted file does not count."""
        if self._lock is not None and not _is_at(self._lock_path, self._lock):
            self.release_lock()
        if self._lock is None:
            self._lock = _try_lock(self._lock_path)
        return self._lock is not None

    def _report(self, error: Exception) -> None:
        """Logs the first failure in a row: the next one comes TURN_S later."""
        if not self._is_failing:
            is_unexpected = isinstance(error, ValueError)
            log.warning("increments.not_applied", error=str(error), exc_info=is_unexpected)
        self._is_failing = True


def _try_lock(path: Path) -> int | None:
    _create_private_folder(path.parent)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _create_private_folder(folder: Path) -> None:
    """Raises RuntimeFolderNotPrivate: another user may have created it in a shared place."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stat = folder.stat()
    if stat.st_uid != os.getuid() or stat.st_mode & 0o022:
        raise RuntimeFolderNotPrivate(f"{folder} is not private to uid {os.getuid()}")


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


class Source(NamedTuple):
    """How to join and read the stream: the functions of post_stream.py, or a test's."""

    begin: Callable[[], StreamPosition] = join_stream
    read: Callable[[StreamPosition], StreamEntries | None] = read_stream


class Applier:
    """Applies the stream to the index.

    Safety: killed anywhere, the next one continues or starts again; applying twice changes nothing.
    """

    def __init__(self, path: Path, clock_ms: Callable[[], int], source: Source) -> None:
        self._path = path
        self._clock_ms = clock_ms
        self._source = source
        self._index: LastPostIndex | None = None

    def catch_up(self) -> None:
        """Applies everything that is in the stream. Raises RedisError, OSError.

        Cost: one round trip for A_READ entries.
        """
        index = self._find_index()
        while not self._step(index):
            index = self._index or index

    def _step(self, index: LastPostIndex) -> bool:
        """Applies one read of the stream; whether nothing is left."""
        position = index.position
        entries = self._source.read(position) if position else None
        if entries is None:
            self._begin(index)
            return True
        index = self._index = self._with_room(index, entries.posts.authors)
        apply_posts(index, entries.posts)
        index.move(entries.position)
        if entries.now is not None:
            self._finish(index, entries.now)
        return entries.now is not None

    def _begin(self, index: LastPostIndex) -> None:
        """Starts at the end of the stream. Earlier posts are unknown.

        Posts of the next LAG_S count as unknown, too: another machine's clock may be ahead.
        """
        position = self._source.begin()
        second = position.ms // 1000 - EPOCH
        index.begin(position, second + LAG_S)
        RESETS.inc()
        self._finish(index, second)

    def _finish(self, index: LastPostIndex, now: int) -> None:
        index.header[HeaderWord.CAUGHT_UP] = now
        index.header[HeaderWord.APPLIED_MS] = self._clock_ms()

    def _find_index(self) -> LastPostIndex:
        index = self._index
        if index is None or not index.is_at(self._path):
            index = self._index = open_index(self._path) or create_index(self._path)
        return index

    def _with_room(self, index: LastPostIndex, authors: Integers) -> LastPostIndex:
        most = int(authors.max(initial=0))
        return index if most + 1 < len(index.cells) else grow_index(self._path, index, most)


def apply_posts(index: LastPostIndex, posts: PostColumns) -> None:
    """Raises each author's cell to the author's latest post, and adds all posts to its history.

    A late post counts as posted LAG_S before it arrived: otherwise a client that asked in between
    would never learn of it. Its own second is in the history, too. A post that is announced again
    changes nothing: the author's cell is already as high, and has its period.
    """
    APPLIED.inc(len(posts.authors))
    authors, places = np.unique(posts.authors, return_inverse=True)
    cells = index.cells[authors]
    before = (cells >> LATEST_SHIFT).astype(np.int64)
    values = posts.seconds * 2 + (posts.sequences > 0)
    late = np.maximum(values, (posts.arrived - LAG_S) * 2)
    counted = np.where(values > before[places], late, values)
    latest = before.copy()
    np.maximum.at(latest, places, counted)
    ages = (latest // 2 // PERIOD_S - before // 2 // PERIOD_S).clip(0, HISTORY_PERIODS)
    history = ((cells & HISTORY).astype(np.int64) << ages) & HISTORY
    unsure = (cells >> UNSURE_SHIFT & 1).astype(np.int64) * (ages < HISTORY_PERIODS)
    np.bitwise_or.at(unsure, places, posts.unsure)
    for seconds in (posts.seconds, counted // 2):
        ages = latest[places] // 2 // PERIOD_S - seconds // PERIOD_S
        is_near = ages < HISTORY_PERIODS
        np.bitwise_or.at(history, places[is_near], 1 << ages[is_near])
    # Before the cells: a reader may find no post of that second yet, but never a later one.
    newest = int(latest.max(initial=0)) // 2
    index.header[HeaderWord.NEWEST] = max(index.header[HeaderWord.NEWEST], newest)
    # One store of each cell: readers need no lock.
    index.cells[authors] = latest.astype(np.uint64) << LATEST_SHIFT | (
        unsure << UNSURE_SHIFT | history
    ).astype(np.uint64)
