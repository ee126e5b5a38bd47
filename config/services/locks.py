"""File locks: who may work on a data folder. The kernel frees them however a process ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.services.errors import DataInUse

# A server that was just killed, or whose Tideline was, may take this long to let go of its data.
RELEASE_WAIT_S = 10.0
# A lock that is waited for in the kernel cannot be given up after some time.
_POLL_S = 0.02


@contextmanager
def locked(file: Path, wait_s: float = 0) -> Iterator[int]:
    """Holds the lock on `file` and gives its descriptor.

    A child that inherits the descriptor keeps the lock after this block has ended. The holder's
    process id is in the file. Raises DataInUse when it stays taken for `wait_s`.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _take(descriptor, file, time.monotonic() + wait_s)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _take(descriptor: int, file: Path, deadline: float) -> None:
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
