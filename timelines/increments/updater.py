"""Who keeps a machine's index up to date: whichever process holds a lock, twice a second.

Every process that asks the index has a thread that tries for the lock, so when the holder ends,
in whatever way, another is at work within TURN_S. The lock is the kernel's (flock).
"""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

import structlog
from redis.exceptions import RedisError

from infra.background import BackgroundThread

TURN_S = 0.5
log = structlog.get_logger()


class RuntimeFolderNotPrivate(OSError):
    """The folder for run-time files belongs to somebody else, or others may write there."""


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
        """Catches up if this process is the one to do it; whether it is. Raises nothing."""
        with self._running:
            try:
                if not self._holds():
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
        """Of the lock; also what a forked process does with its copy of the parent's."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def run(self) -> None:
        self.run_once()
        while not self.stopped.wait(TURN_S):
            self.run_once()

    def _holds(self) -> bool:
        """A lock on a file that is gone from its place is nobody's."""
        if self._lock is not None and not _is_at(self._lock_path, self._lock):
            self.release_lock()
        if self._lock is None:
            self._lock = _try_lock(self._lock_path)
        return self._lock is not None

    def _report(self, error: Exception) -> None:
        """Once: the same is true again half a second later."""
        if not self._is_failing:
            log.warning("increments.not_applied", error=str(error), exc_info=_is_strange(error))
        self._is_failing = True


def _try_lock(path: Path) -> int | None:
    _own_folder(path.parent)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _own_folder(folder: Path) -> None:
    """In a place that all users share somebody may have made another. Raises FolderNotOurs."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stat = folder.stat()
    if stat.st_uid != os.getuid() or stat.st_mode & 0o022:
        raise RuntimeFolderNotPrivate(f"{folder} is not private to uid {os.getuid()}")


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _is_strange(error: Exception) -> bool:
    return isinstance(error, ValueError)
