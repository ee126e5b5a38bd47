"""Ends sessions from before a switch, so that no process reads the shard before by an old map.

A process that connects again reads the epoch of the map. Sessions that work are only waited for.
Sessions of a pool stay: each of their transactions asks for the epoch. Those that asked before the
switch are waited for.
"""

import time
from collections.abc import Iterator

from django.conf import settings

from infra.sharding.errors import NO_ANSWER
from infra.sharding.map_changes import knows_epoch
from infra.sharding.pooled.use import roles_of_pools
from infra.sharding.probe import error_line
from infra.sharding.sql import fetch_all, fetch_one

CLOCK = "SELECT clock_timestamp()"
_OLD = """
FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
    AND pid <> pg_backend_pid() AND application_name IS DISTINCT FROM %s
    AND CASE WHEN usename = ANY(%s) THEN xact_start ELSE backend_start END < %s
"""
# One that has just answered may get its next statement now.
_IDLE = " AND state = 'idle' AND state_change < clock_timestamp() - interval '3 ms'"
LIST_IDLE = f"SELECT pid {_OLD} {_IDLE}"
# Each in a statement of its own, which sees whether it is still idle.
END = f"SELECT pg_terminate_backend(pid) {_OLD} {_IDLE} AND pid = %s"
LEFT = f"SELECT pid, coalesce(state, ''), left(query, 60) {_OLD}"
PAUSE_S, SAY_EVERY_S = 0.01, 2.0


def read_clock(alias: str) -> object:
    """The time of the database, to compare with the beginnings of its sessions."""
    row = fetch_one(alias, CLOCK)
    return row[0] if row else None


def end_idle_sessions(alias: str, before: object, spared: str | None = None) -> int:
    """Ends the idle sessions that began before this time; returns how many older ones are left.

    `spared`: the name of sessions that stay. A write that comes in this moment would fail.
    """
    old = (spared, roles_of_pools(alias), before)
    for (pid,) in fetch_all(alias, LIST_IDLE, old):
        fetch_one(alias, END, (*old, pid))
    return len(fetch_all(alias, LEFT, old))


def end_old_sessions(alias: str, before: object, spared: str | None = None) -> Iterator[str]:
    """Until no session is older, or in a pool no transaction. Says what it waits for.

    `spared`: as above.
    """
    said_s = time.monotonic()
    while end_idle_sessions(alias, before, spared):
        if time.monotonic() > said_s + SAY_EVERY_S:
            said_s = time.monotonic()
            left = fetch_all(alias, LEFT, (spared, roles_of_pools(alias), before))
            yield f"{alias}: waits for " + "; ".join(f"{p} {s}: {q}" for p, s, q in left[:3])
        time.sleep(PAUSE_S)


def end_old_replica_sessions(shard: str, epoch: int) -> Iterator[str]:
    """The same on the replicas of the shard, once they have the epoch. One that does not answer is
    left out: processes leave it alone, too, and connect to it again later."""
    for replica in settings.REPLICA_ALIASES.get(shard, ()):
        try:
            while not knows_epoch(replica, epoch):
                time.sleep(PAUSE_S)
            yield from end_old_sessions(replica, read_clock(replica))
        except NO_ANSWER as error:
            yield f"{replica} was left out: {error_line(error)}"
