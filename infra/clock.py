"""The wall clock. Views, commands and consumers read it; below them time is an argument."""

import time


def now_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
