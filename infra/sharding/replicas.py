"""Reads that a replica of a shard may answer.

A replica has a database alias that is in no list of aliases, so nothing writes, migrates or drains
there. A replica that is down, hangs or is too far behind is left alone: another replica or the
shard answers instead.
"""

import os
import random
import time
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, TypeVar

from django.conf import settings

from infra.sharding.errors import ReplicaFailed
from infra.sharding.probe import probe_all
from infra.sharding.replica import CHECK_VALID_S, READS, Replica

T = TypeVar("T")

# The longest time between the start of a transaction and its commit.
LONGEST_WRITE_S = 60.0
# How long a command waits for the state of the replicas of a shard.
STATE_S = 0.8


class ReplicaState(NamedTuple):
    """`words`: `used, 0 bytes behind`, or `left alone: …` with the reason."""

    is_used: bool
    words: str


def try_replica(alias: str, read: Callable[[str], T]) -> T | None:
    """`read(replica)` of a random replica in use, or None: ask the shard.

    None if the shard has no replica in use, or if this one fails: a read waits for one replica.
    The data is at most REPLICA_LAG_S + CHECK_VALID_S old. Errors of the replica don't raise.
    """
    replicas = replicas_of(alias)
    return replicas.ask(read) if replicas.all else None


def read_replica_or_shard(alias: str, read: Callable[[str], T]) -> T:
    """`read(replica)` of a random replica in use, else `read(alias)`."""
    answer = try_replica(alias, read)
    return read(alias) if answer is None else answer


def is_replica_used(alias: str) -> bool:
    """Whether the shard has a replica in use."""
    return bool(replicas_of(alias).used())


def settled_before(now_s: float) -> float:
    """The time before which all writes are on every replica in use, in Unix seconds."""
    return now_s - settings.REPLICA_LAG_S - CHECK_VALID_S - LONGEST_WRITE_S


def read_replica_states(alias: str) -> dict[str, ReplicaState]:
    """The state of each replica of the shard, by alias. All are checked now, in STATE_S at most."""
    replicas = {replica.alias: replica for replica in replicas_of(alias).all}
    deadline_s = time.monotonic() + STATE_S / 2
    calls = {name: partial(replica.check_until, deadline_s) for name, replica in replicas.items()}
    answers = probe_all(calls, STATE_S)
    return {name: _state(replica, answers[name].why) for name, replica in replicas.items()}


def _state(replica: Replica, problem: str) -> ReplicaState:
    """`problem`: why the check did not end; empty if it did."""
    if why := problem or replica.why:
        return ReplicaState(False, f"left alone: {why}")
    return ReplicaState(True, f"used, {replica.behind_bytes:,} bytes behind")


class ShardReplicas:
    """All replicas of one shard. Threads share it."""

    def __init__(self, shard: str) -> None:
        self.shard = shard
        self.all = [Replica(shard, alias) for alias in settings.REPLICA_ALIASES.get(shard, ())]

    def used(self) -> list[Replica]:
        """Those in use. Starts the checks that are due, without waiting."""
        return [replica for replica in self.all if replica.is_used()]

    def ask(self, read: Callable[[str], T]) -> T | None:
        """`read` of a random one in use; None without one, and when it fails.

        After a failure the others must first pass a check. Several replicas often hang together,
        for example in one data centre, and a request must not wait for one after the other.
        """
        used, began_s = self.used(), time.monotonic()
        if not used:
            READS.labels(self.shard, "", "left_alone").inc()
            return None
        chosen = random.choice(used)
        try:
            return chosen.ask(read)
        except ReplicaFailed:
            for other in self.all:
                if other is not chosen:
                    other.doubt(began_s)
            return None


@cache
def replicas_of(alias: str) -> ShardReplicas:
    """The replicas of this shard, as the settings name them."""
    return ShardReplicas(alias)


# A forked process lacks the threads that run checks which its parent started.
os.register_at_fork(after_in_child=replicas_of.cache_clear)
