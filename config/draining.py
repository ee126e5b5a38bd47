"""Whether this web server is about to end: one byte that its processes share.

`python -m config.web` makes it before it forks its workers, and sets it. In any other process it
is that process's own, and never set.
"""

import mmap

_BYTE = mmap.mmap(-1, 1)


def is_draining() -> bool:
    """Cost: 0.1 µs."""
    return _BYTE[0] != 0


def start_draining() -> None:
    _BYTE[0] = 1
