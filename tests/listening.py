"""The listener of this process: the thread that receives invalidations from other processes."""

import time

from infra.caching.listener import LISTENER
from tests.waiting import until


def wait_for_listener() -> None:
    """Returns when it is subscribed. Then all copies have just fallen, as they do each time.

    A test that counts calls must not begin before.
    """
    LISTENER.start()
    until(lambda: LISTENER.has_all(time.monotonic()))


def move_listener() -> None:
    """To the Redis that this process uses now.

    It would stay with the one before, as long as that runs, and receive nothing there.
    """
    LISTENER.renew()
    wait_for_listener()
