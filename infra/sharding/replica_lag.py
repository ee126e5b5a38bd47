"""How old the data of a replica is.

It is measured with positions in the shard's write-ahead log, which are read from both servers.
Other measures fail: `pg_last_xact_replay_timestamp()` is the time of the last commit, so on a quiet
shard it grows although nothing is missing. "All received log is replayed" is also true of a replica
that is cut off. A heartbeat row needs a process that writes it, and synchronous clocks.
"""

from collections import deque
from typing import NamedTuple

from infra.sharding.errors import ReplicaMisconfigured
from infra.sharding.sql import fetch_one

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
