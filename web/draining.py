"""Whether this web server is draining: it still serves, and is about to end.

The processes of a server share one byte. Its main process creates it before it forks its workers.
In other processes nothing sets the byte.
"""

import mmap


class _Shared:
    byte = mmap.mmap(-1, 1)


def share_byte() -> None:
    """This process and those that it forks have a byte of their own."""
    _Shared.byte = mmap.mmap(-1, 1)


def is_draining() -> bool:
    """Cost: a read of memory, no system call."""
    return _Shared.byte[0] != 0


def start_draining() -> None:
    _Shared.byte[0] = 1
