"""Reads that a shard's replica may answer (P6), and when it is left alone.

A replica is a database alias of its own, in no list of aliases: nothing is written to it, migrated
or drained there. One that is down, hangs or trails is not asked, and who asked has the shard.
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

# How often a replica that is used is looked at, how long a check holds, and how long one that
# failed is left alone.
CHECK_EVERY_S = 1.0
CHECK_VALID_S = 3.0
RETRY_AFTER_S = 5.0
# A transaction may have begun this long before what it wrote could be seen.
LONGEST_WRITE_S = 60.0

READS = Counter(
    "tideline_replica_reads_total",
    "Reads that may trail: answered by the replica, or not (left_alone, failed)",
    ["shard", "outcome"],
)
LAG = process_gauge("tideline_replica_lag_seconds", "How old what the replica knows is", ["shard"])
USED = process_gauge(
    "tideline_replica_used", "1 while the replica is asked", ["shard"], together="min"
)
log = structlog.get_logger()


def try_replica(alias: str, read: Callable[[str], T]) -> T | None:
    """`read(replica)`, or None when the shard has no replica that is well enough.

    What it gives is at most REPLICA_LAG_S + HOLDS_S old. Never an error of the replica's.
    """
    replica = replica_of(alias)
    return None if replica is None else replica.ask(read)


def read_replica_or_shard(alias: str, read: Callable[[str], T]) -> T:
    """`read(alias)` with the shard's replica in its place, while that is well."""
    answer = try_replica(alias, read)
    return read(alias) if answer is None else answer


def is_replica_used(alias: str) -> bool:
    """Whether it is worth asking the shard what only matters to an answer of its replica."""
    replica = replica_of(alias)
    return replica is not None and replica.is_used()


def settled_before(now_s: float) -> float:
    """What was written before this second is on every replica that is asked."""
    return now_s - settings.REPLICA_LAG_S - CHECK_VALID_S - LONGEST_WRITE_S


class Replica:
    """One shard's replica, as this process knows it; shared by its threads."""

    def __init__(self, shard: str, alias: str) -> None:
        self.shard = shard
        self.alias = alias
        self._lag = LagEstimator()
        self._used_until = 0.0
        self._check_at = 0.0
        # Grows with each failure; a thread's connection of before is not trusted any more.
        self._epoch = 0
        self._mine = threading.local()
        self._checking = threading.Lock()

    def is_used(self) -> bool:
        """By the last check; the next one is begun when it is due, and not waited for."""
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
            raise  # the statement is wrong, wherever it is sent
        except (DatabaseError, InterfaceError) as error:
            READS.labels(self.shard, "failed").inc()
            self._leave_alone(str(error))
            return None
        READS.labels(self.shard, "replica").inc()
        return answer

    def check(self) -> bool:
        """Finds out whether the replica is well enough, at once. Two queries, one on the shard."""
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
            self._say(False, f"trails by {lag_s} s" if lag_s else "trails, nobody knows how far")
            self._used_until = 0.0
        else:
            self._say(True)
            self._used_until = time.monotonic() + CHECK_VALID_S

    def _read(self, read: Callable[[str], T]) -> T:
        """On a connection made since the last failure. An older one may be broken, or about to give
        the answer that was not waited for."""
        epoch = self._epoch
        if getattr(self._mine, "epoch", epoch) != epoch:
            connections[self.alias].close()
        self._mine.epoch = epoch
        return read(self.alias)

    def _leave_alone(self, why: str) -> None:
        self._say(False, why)
        self._epoch += 1
        self._used_until = 0.0
        self._check_at = time.monotonic() + RETRY_AFTER_S

    def _say(self, is_used: bool, why: str = "") -> None:
        """Logs what is new."""
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


# A forked process has no thread that would end the check its parent had begun.
os.register_at_fork(after_in_child=replica_of.cache_clear)
