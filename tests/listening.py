"""The listener of this process: the thread that receives invalidations from other processes."""

import time

import pytest

from infra.caching import listener
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

    It would stay with the one before, as long as that runs, and receive nothing there. Many
    processes must not connect at once, so the thread waits before; one of a test does not.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listener, "RETRY_S", (0.0, 0.0))
        patch.setattr(listener, "PROOF_EVERY_S", 0.01)
        LISTENER.renew()
        wait_for_listener()
