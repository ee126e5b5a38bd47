"""Whether changes are delivered: a worker has reported since this web server started.

Otherwise the first posts would come late, and back-fills would be missing. A worker that ends later
does not matter here: the compensator delivers, and web servers must not all leave the proxy.
"""

import time

from redis.exceptions import RedisError

from infra.changes.running_drainers import list_drainers

# A web server that is started while all workers are away serves after this time.
LONGEST_S = 60.0


class _Waiting:
    """`until_s`: on the monotonic clock; 0: this process does not wait for a worker."""

    until_s = 0.0


def wait_for_delivery() -> None:
    """From now on `is_delivering` is False until a worker reports, for LONGEST_S at most."""
    _Waiting.until_s = time.monotonic() + LONGEST_S


def is_delivering() -> bool:
    """True for good after the first time. Cost until then: one round trip. Without Redis: True."""
    if time.monotonic() < _Waiting.until_s and not _has_worker():
        return False
    _Waiting.until_s = 0.0
    return True


def _has_worker() -> bool:
    try:
        return bool(list_drainers())
    except RedisError:
        return True
