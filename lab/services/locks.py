"""File locks on data folders. The kernel releases a lock when the process ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.services.errors import DataInUse

# A server needs up to this long to release its data after a kill.
RELEASE_WAIT_S = 10.0
# flock(2) knows no timeout, so this process tries again and again.
_POLL_S = 0.02


@contextmanager
def locked(file: Path, wait_s: float = 0) -> Iterator[int]:
    """Holds the lock on `file` during the block and yields its file descriptor.

    A child that inherits the descriptor keeps the lock after the block. The file contains the
    process id of the holder. Raises DataInUse when another process holds the lock for `wait_s`.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _acquire(descriptor, file, time.monotonic() + wait_s)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, file: Path, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise DataInUse(file.parent, _holder(descriptor)) from None
        time.sleep(_POLL_S)


def _holder(descriptor: int) -> str:
    pid = os.pread(descriptor, 20, 0).decode(errors="replace")
    return f" by process {pid}" if pid else ""
