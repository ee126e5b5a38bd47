"""Accounts whose rows are moving to another shard, and calls that begin again when one meets this.

A move stops the writes of its accounts for less than a second (operations/moves). A call that meets
it has done nothing on that shard. It begins again, and takes the shard from the map of then.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from django.db import OperationalError

from infra.telemetry.reached_branches import reached

T = TypeVar("T")
# Longer than a move stops writes. A request that waits longer is 503.
PATIENCE_S = 3.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.05
_is_read: ContextVar[bool] = ContextVar("tideline_is_read", default=False)


class AccountMoving(OperationalError):
    """The account's rows are moving to another shard, or have moved. Try again in a moment."""


def may_begin_again() -> bool:
    """Whether the caller is part of a read: it has changed nothing, so it can begin again."""
    return _is_read.get()


def again_while_moving(call: Callable[[], T], is_read: bool) -> T:
    """`call()`. It is called again while it raises AccountMoving, for PATIENCE_S at most.

    `is_read`: then a new connection that finds the map of this process old raises it too. Raises:
    what the call raises. Cost: two context variables.
    """
    before, ends_at = _is_read.set(is_read), time.monotonic() + PATIENCE_S
    pause_s = FIRST_PAUSE_S
    try:
        while True:
            try:
                return call()
            except AccountMoving:
                if time.monotonic() + pause_s > ends_at:
                    raise
            reached("moving.began_again")
            time.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 1.5)
    finally:
        _is_read.reset(before)
