"""Reads that a shard's replica may answer.

A replica has a database alias that is in no list of aliases, so nothing writes, migrates or drains
there. A replica that is down, hangs or is too far behind is left alone: the shard answers instead.
"""

import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections
from prometheus_client import Counter

from infra.sharding.errors import ReplicaMisconfigured, WrongPlacement
from infra.sharding.replica_lag import LagEstimator, read_log_position
from infra.sharding.scatter import begin
from infra.telemetry.gauges import process_gauge

T = TypeVar("T")

# How often a replica in use is checked, how long the result of a check is valid, and when a replica
# is tried again after an error.
CHECK_EVERY_S = 1.0
CHECK_VALID_S = 3.0
RETRY_AFTER_S = 5.0
# The longest time between the start of a transaction and its commit.
LONGEST_WRITE_S = 60.0

READS = Counter(
    "tideline_replica_reads_total",
    "Reads that a replica may answer, by outcome: replica, left_alone, failed",
    ["shard", "outcome"],
)
LAG = process_gauge("tideline_replica_lag_seconds", "Age of the replica's data", ["shard"])
USED = process_gauge(
    "tideline_replica_used", "1 while the replica is in use", ["shard"], combine="min"
)
log = structlog.get_logger()


def try_replica(alias: str, read: Callable[[str], T]) -> T | None:
    """`read(replica)`, or None if the shard has no replica in use.

    The data is at most REPLICA_LAG_S + CHECK_VALID_S old. Errors of the replica don't raise.
    """
    replica = replica_of(alias)
    return None if replica is None else replica.ask(read)


def read_replica_or_shard(alias: str, read: Callable[[str], T]) -> T:
    """`read(replica)` while the shard's replica is in use, else `read(alias)`."""
    answer = try_replica(alias, read)
    return read(alias) if answer is None else answer


def is_replica_used(alias: str) -> bool:
    """Whether the shard has a replica in use."""
    replica = replica_of(alias)
    return replica is not None and replica.is_used()


def settled_before(now_s: float) -> float:
    """The time before which all writes are on every replica in use, in Unix seconds."""
    return now_s - settings.REPLICA_LAG_S - CHECK_VALID_S - LONGEST_WRITE_S


class Replica:
    """What this process knows of one shard's replica. Threads share it."""

    def __init__(self, shard: str, alias: str) -> None:
        self.shard = shard
        self.alias = alias
        self._lag = LagEstimator()
        self._used_until = 0.0
        self._check_at = 0.0
        # Grows with each error. Connections of an earlier epoch are closed before use.
        self._epoch = 0
        self._mine = threading.local()
        self._checking = threading.Lock()

    def is_used(self) -> bool:
        """The result of the last check. Starts the next check if it is due, without waiting."""
        now_s = time.monotonic()
        if now_s >= self._check_at and not self._checking.locked():
            self._check_at = now_s + CHECK_EVERY_S
            begin(self.alias, self.check)
        return now_s < self._used_until

    def ask(self, read: Callable[[str], T]) -> T | None:
        if not self.is_used():
            READS.labels(self.shard, "left_alone").inc()
            return None
        try:
            answer = self._read(read)
        except WrongPlacement:
            raise  # the statement is wrong on any server
        except (DatabaseError, InterfaceError) as error:
            READS.labels(self.shard, "failed").inc()
            self._leave_alone(str(error))
            return None
        READS.labels(self.shard, "replica").inc()
        return answer

    def check(self) -> bool:
        """Checks now whether the replica can be used. Two queries, one of them on the shard."""
        with self._checking:
            self._check_at = time.monotonic() + CHECK_EVERY_S
            try:
                self._judge(self._read(self._measure))
            except (DatabaseError, InterfaceError, ReplicaMisconfigured) as error:
                self._leave_alone(str(error))
        return time.monotonic() < self._used_until

    def _measure(self, alias: str) -> float | None:
        now_s = time.monotonic()
        shard = read_log_position(self.shard)
        return self._lag.measure(shard, read_log_position(alias), now_s)

    def _judge(self, lag_s: float | None) -> None:
        LAG.labels(self.shard).set(float("nan") if lag_s is None else lag_s)
        if lag_s is None or lag_s > settings.REPLICA_LAG_S:
            self._report(False, f"{lag_s} s behind" if lag_s else "behind by an unknown time")
            self._used_until = 0.0
        else:
            self._report(True)
            self._used_until = time.monotonic() + CHECK_VALID_S

    def _read(self, read: Callable[[str], T]) -> T:
        """Uses a connection opened after the last error. An older one may be broken, or may return
        the late answer of an earlier query."""
        epoch = self._epoch
        if getattr(self._mine, "epoch", epoch) != epoch:
            connections[self.alias].close()
        self._mine.epoch = epoch
        return read(self.alias)

    def _leave_alone(self, why: str) -> None:
        self._report(False, why)
        self._epoch += 1
        self._used_until = 0.0
        self._check_at = time.monotonic() + RETRY_AFTER_S

    def _report(self, is_used: bool, why: str = "") -> None:
        """Logs a change of state."""
        USED.labels(self.shard).set(is_used)
        if is_used and not self._used_until:
            log.info("replica.used", shard=self.shard)
        elif not is_used and self._used_until:
            log.warning("replica.left_alone", shard=self.shard, why=why)


@cache
def replica_of(alias: str) -> Replica | None:
    """The replica of this shard, if the settings name one."""
    name = settings.REPLICA_ALIASES.get(alias)
    return Replica(alias, name) if name else None


# A forked process lacks the thread that runs a check which its parent started.
os.register_at_fork(after_in_child=replica_of.cache_clear)
