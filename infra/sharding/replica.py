"""One replica of a shard, as this process knows it. `replicas.py` chooses between them.

How old the data of a replica is.

It is measured with positions in the shard's write-ahead log, which are read from both servers.
Other measures fail: `pg_last_xact_replay_timestamp()` is the time of the last commit, so on a quiet
shard it grows although nothing is missing. "All received log is replayed" is also true of a replica
that is cut off. A heartbeat row needs a process that writes it, and synchronous clocks.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections
from prometheus_client import Counter

from infra.sharding.errors import ReplicaFailed, ReplicaMisconfigured, WrongPlacement
from infra.sharding.probe import error_line
from infra.sharding.scatter import begin
from infra.sharding.sql import fetch_one
from infra.telemetry.gauges import process_gauge

POSITION = """
SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END
        - '0/0'::pg_lsn)::bigint,
    pg_is_in_recovery(), system_identifier,
    (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
FROM pg_control_system()
"""
MAX_SAMPLES = 1_000


class LogPosition(NamedTuple):
    """`log`: bytes of log that the shard wrote or the replica replayed.

    `system` and `database` identify the data; they are equal on a shard and its replica.
    """

    log: int
    is_replica: bool
    system: int
    database: int


class PositionSample(NamedTuple):
    """The shard's log position at a time, in seconds of the monotonic clock."""

    at_s: float
    log: int


class LagEstimator:
    """Estimates the lag of one replica from samples of its shard's position. Not thread-safe."""

    def __init__(self) -> None:
        self._samples: deque[PositionSample] = deque(maxlen=MAX_SAMPLES)

    def measure(self, shard: LogPosition, replica: LogPosition, now_s: float) -> float | None:
        """Seconds that the replica is behind. Read both positions after `now_s`, the shard's first.

        None: the replica has not reached any sample yet. Raises ReplicaMisconfigured.
        """
        _check(shard, replica)
        self._samples.append(PositionSample(now_s, shard.log))
        while len(self._samples) > 1 and self._samples[1].log <= replica.log:
            self._samples.popleft()
        oldest = self._samples[0]
        return now_s - oldest.at_s if oldest.log <= replica.log else None


def read_log_position(alias: str) -> LogPosition:
    """One query, which reads no table."""
    row = fetch_one(alias, POSITION)
    assert row is not None  # noqa: S101 - pg_control_system has one row
    return LogPosition(*row)


def _check(shard: LogPosition, replica: LogPosition) -> None:
    if shard.is_replica:
        raise ReplicaMisconfigured("the shard itself is a replica")
    if not replica.is_replica:
        raise ReplicaMisconfigured("it accepts writes: it was promoted, or it is not a replica")
    if (shard.system, shard.database) != (replica.system, replica.database):
        raise ReplicaMisconfigured("it is a replica of another server or database")


T = TypeVar("T")

# How often a replica in use is checked, how long the result of a check is valid, and when a replica
# is tried again after an error.
CHECK_EVERY_S = 1.0
CHECK_VALID_S = 3.0
RETRY_AFTER_S = 5.0
# Between two checks of a command that waits for a first measure of the lag.
PAUSE_S = 0.05

READS = Counter(
    "tideline_replica_reads_total",
    "Reads that may trail; without a replica those that found none in use",
    ["shard", "replica", "outcome"],
)
LAG = process_gauge(
    "tideline_replica_lag_seconds",
    "How far a replica trails, of the process that saw most",
    ["shard", "replica"],
)
USED = process_gauge(
    "tideline_replica_used",
    "1 while all processes that looked ask it",
    ["shard", "replica"],
    combine="min",
)
log = structlog.get_logger()


class Replica:
    """What this process knows of one replica. Threads share it.

    `behind_bytes`: of the shard's log, at the last check. `why`: it is not used; empty if it is.
    """

    def __init__(self, shard: str, alias: str) -> None:
        self.shard = shard
        self.alias = alias
        self.behind_bytes = 0
        self.why = "not checked yet"
        self._lag = LagEstimator()
        self._is_lag_known = True
        self._used_until = 0.0
        self._check_at = 0.0
        # When the last check began that the replica passed, and from when on one must have begun.
        self._proved_at = 0.0
        self._prove_from = 0.0
        # Grows with each error. Connections from before one are closed before use.
        self._error_count = 0
        self._mine = threading.local()
        self._checking = threading.Lock()

    def is_used(self) -> bool:
        """The result of the last check. Starts the next check if it is due, without waiting."""
        now_s = time.monotonic()
        if now_s >= self._check_at and not self._checking.locked():
            self._check_at = now_s + CHECK_EVERY_S
            begin(self.alias, self.check)
        return now_s < self._used_until and self._proved_at >= self._prove_from

    def ask(self, read: Callable[[str], T]) -> T:
        """`read(alias)`. Raises: ReplicaFailed; the replica is then not used for a while."""
        try:
            answer = self._read(read)
        except WrongPlacement:
            raise  # the statement is wrong on any server
        except (DatabaseError, InterfaceError) as error:
            READS.labels(self.shard, self.alias, "failed").inc()
            self._leave_alone(error_line(error))
            raise ReplicaFailed(self.alias) from error
        READS.labels(self.shard, self.alias, "replica").inc()
        return answer

    def doubt(self, since_s: float) -> None:
        """Not used before it passes a check that began after `since_s`. Does not wait for it."""
        self._prove_from = max(self._prove_from, since_s)
        if self._proved_at < self._prove_from:
            self._check_at = min(self._check_at, since_s)
            self.is_used()

    def check(self) -> bool:
        """Checks now whether the replica can be used. Two queries, one of them on the shard."""
        with self._checking:
            began_s = time.monotonic()
            self._check_at = began_s + CHECK_EVERY_S
            try:
                self._judge(self._read(self._measure), began_s)
            except (DatabaseError, InterfaceError, ReplicaMisconfigured) as error:
                self._leave_alone(error_line(error))
        return time.monotonic() < self._used_until

    def check_until(self, deadline_s: float) -> bool:
        """`check`, again while the lag is unknown: the first position takes a moment to arrive."""
        while not (is_used := self.check()) and not self._is_lag_known:
            if time.monotonic() >= deadline_s:
                break
            time.sleep(PAUSE_S)
        return is_used

    def _measure(self, alias: str) -> float | None:
        now_s = time.monotonic()
        shard, replica = read_log_position(self.shard), read_log_position(alias)
        self.behind_bytes = max(shard.log - replica.log, 0)
        return self._lag.measure(shard, replica, now_s)

    def _judge(self, lag_s: float | None, began_s: float) -> None:
        self._is_lag_known = lag_s is not None
        LAG.labels(self.shard, self.alias).set(float("nan") if lag_s is None else lag_s)
        if lag_s is None or lag_s > settings.REPLICA_LAG_S:
            behind = "an unknown time" if lag_s is None else f"{lag_s:.1f} s"
            self._report(False, f"behind by {behind}")
            self._used_until = 0.0
        else:
            self._report(True)
            self._proved_at = began_s
            self._used_until = time.monotonic() + CHECK_VALID_S

    def _read(self, read: Callable[[str], T]) -> T:
        """Uses a connection opened after the last error. An older one may be broken, or may return
        the late answer of an earlier query."""
        errors = self._error_count
        if getattr(self._mine, "errors", errors) != errors:
            connections[self.alias].close()
        self._mine.errors = errors
        return read(self.alias)

    def _leave_alone(self, why: str) -> None:
        self._report(False, why)
        self._is_lag_known = True
        self._error_count += 1
        self._used_until = 0.0
        self._check_at = time.monotonic() + RETRY_AFTER_S

    def _report(self, is_used: bool, why: str = "") -> None:
        """Logs a change of state."""
        self.why = why
        USED.labels(self.shard, self.alias).set(is_used)
        if is_used and not self._used_until:
            log.info("replica.used", shard=self.shard, replica=self.alias)
        elif not is_used and self._used_until:
            log.warning("replica.left_alone", shard=self.shard, replica=self.alias, why=why)
