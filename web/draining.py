"""Whether this web server is draining: it still serves, and is about to end.

The processes of a server share one byte. `python -m web` creates it before it forks its
workers. In other processes nothing sets the byte.
"""

import mmap

_BYTE = mmap.mmap(-1, 1)


def is_draining() -> bool:
    """Cost: a read of memory, no system call."""
    return _BYTE[0] != 0


def start_draining() -> None:
    _BYTE[0] = 1
