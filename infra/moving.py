"""Accounts whose rows are moving to another shard, and calls that begin again when one meets this.

A move stops the writes of its accounts for less than a second (operations/moves). A call that meets
it has done nothing on that shard. It begins again, and takes the shard from the map of then.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError

from infra.telemetry.reached_branches import reached

T = TypeVar("T")
P = ParamSpec("P")
# Longer than a move stops writes. A request that waits longer is 503.
PATIENCE_S = 3.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.05


class AccountMoving(OperationalError):
    """The account's rows are moving to another shard, or have moved. Try again in a moment.

    The transaction that met this has done nothing.
    """


class KnownEpoch:
    """`value`: of the bucket map that this process has; -1: it has none yet."""

    value = -1


@dataclass(slots=True)
class _Call:
    """`epoch`: of the map by which it may have chosen shards; -1: by that of now. `has_written`: it
    has committed a change, so it must not begin again."""

    epoch: int
    is_read: bool = False
    has_written: bool = False


_call: ContextVar[_Call | None] = ContextVar("tideline_call", default=None)


def oldest_epoch() -> int:
    """Of the maps by which the caller may have chosen a shard; -1: this process has none yet."""
    call, known = _call.get(), KnownEpoch.value
    return min(known, call.epoch) if call is not None and call.epoch >= 0 else known


def may_be_old(epoch: int) -> bool:
    """Whether the caller may have chosen a shard by a map from before this epoch."""
    return 0 <= oldest_epoch() < epoch


def is_in_read() -> bool:
    """Whether the caller is part of a read, which can begin again after any error."""
    call = _call.get()
    return call is not None and call.is_read


def note_written() -> None:
    """The call has committed a change. What it reads now, it chooses by the map of now.

    Cost: a context variable.
    """
    if (call := _call.get()) is not None:
        call.has_written, call.epoch = True, -1


@contextmanager
def choosing_shards(is_read: bool = False) -> Iterator[_Call]:
    """In the block shards are chosen by the map of now, or by a later one."""
    call = _Call(KnownEpoch.value, is_read)
    before = _call.set(call)
    try:
        yield call
    finally:
        _call.reset(before)


def again_while_moving(call: Callable[[], T], is_read: bool) -> T:
    """`call()`. It is called again while it raises AccountMoving, for PATIENCE_S at most.

    Raises: what the call raises. Cost: two context variables.
    """
    ends_at, pause_s = time.monotonic() + PATIENCE_S, FIRST_PAUSE_S
    while True:
        with choosing_shards(is_read) as current:
            try:
                return call()
            except AccountMoving:
                if current.has_written or time.monotonic() + pause_s > ends_at:
                    raise
        reached("moving.began_again")
        time.sleep(pause_s)
        pause_s = min(LONGEST_PAUSE_S, pause_s * 1.5)


def beginning_again(read: Callable[P, T]) -> Callable[P, T]:
    """For a read by which a write answers: it begins again alone. A write that has committed must
    not. Cost: two context variables."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        return again_while_moving(partial(read, *args, **kwargs), is_read=True)

    return reading
