"""Short work on another shard, for which a request waits a moment and then gives way.

The caller has committed already, and the change row brings about the same work later. So it is
better to give way than to wait for a locked row, or for a shard that hangs.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.db import OperationalError

from infra.sharding.scatter import submit
from infra.sharding.sql import Statement
from infra.telemetry.reached_branches import reached

T = TypeVar("T")
# A shard that did not answer in time is not tried for so long.
AVOID_S = 1.0
# Part of the patience that may be spent on waiting for locks.
LOCK_SHARE = 0.3
SET_TIMEOUTS = (
    "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)"
)
_avoid_until: dict[str, float] = {}


class GaveWay(OperationalError):
    """The other shard did not finish in time. The drain does the work."""


def attempt(alias: str, call: Callable[[], T]) -> T:
    """The answer of a call, which runs on a thread of this shard.

    A call that takes longer goes on, and its answer is lost. `call` must be idempotent. It begins
    its transaction with `timeouts`, or passes `lock_patience_ms` to its one function.
    Raises: GaveWay after ATTEMPT_MS; errors of the call.
    """
    if time.monotonic() < _avoid_until.get(alias, 0.0):
        reached("attempts.shard_avoided")
        raise GaveWay(f"{alias} did not answer a moment ago")
    future = submit(alias, call)
    try:
        return future.result(settings.ATTEMPT_MS / 1000)
    except TimeoutError:
        reached("attempts.gave_way")
        future.cancel()
        _avoid_until[alias] = time.monotonic() + AVOID_S
        raise GaveWay(f"{alias} did not answer in {settings.ATTEMPT_MS} ms") from None


def timeouts() -> Statement:
    """The statement that bounds the rest of a transaction: waits for locks, and each statement."""
    return Statement(SET_TIMEOUTS, (str(lock_patience_ms()), str(settings.ATTEMPT_MS)))


def lock_patience_ms() -> int:
    """How long each lock is waited for, by a function of the database that is the whole attempt."""
    return int(settings.ATTEMPT_MS * LOCK_SHARE)
