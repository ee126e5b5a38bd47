"""How far a replica has come, and how old what it knows is.

Told by positions in the log of writes, both read from here. `pg_last_xact_replay_timestamp()` is
the time of the last commit: on a quiet shard it looks ever older while nothing is missing.
Comparing what the replica received with what it replayed says "nothing is missing" of one that is
cut off and receives nothing. A heartbeat row needs somebody who writes it, and clocks that agree.
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
    """`log`: bytes of log written, or replayed. `system`, `database`: the same on a replica."""

    log: int
    is_replica: bool
    system: int
    database: int


class PositionSample(NamedTuple):
    """Where the shard's log stood, and when: seconds of a clock that only goes forward."""

    at_s: float
    log: int


class LagEstimator:
    """The lag of one replica, from marks of where its shard was when. Not for several threads."""

    def __init__(self) -> None:
        self._samples: deque[PositionSample] = deque(maxlen=MAX_SAMPLES)

    def measure(self, shard: LogPosition, replica: LogPosition, now_s: float) -> float | None:
        """Seconds the replica trails, by positions read after `now_s`, the shard's first.

        None: it has not come to any mark yet, so nobody can tell. Raises NotItsReplica.
        """
        _check(shard, replica)
        self._samples.append(PositionSample(now_s, shard.log))
        while len(self._samples) > 1 and self._samples[1].log <= replica.log:
            self._samples.popleft()
        oldest = self._samples[0]
        return now_s - oldest.at_s if oldest.log <= replica.log else None


def read_log_position(alias: str) -> LogPosition:
    """One query, no table is read."""
    row = fetch_one(alias, POSITION)
    assert row is not None  # noqa: S101 - pg_control_system has one row
    return LogPosition(*row)


def _check(shard: LogPosition, replica: LogPosition) -> None:
    if shard.is_replica:
        raise ReplicaMisconfigured("the shard itself is a replica")
    if not replica.is_replica:
        raise ReplicaMisconfigured("it accepts writes: it was promoted, or is no replica")
    if (shard.system, shard.database) != (replica.system, replica.database):
        raise ReplicaMisconfigured("it is a replica of another server or database")
