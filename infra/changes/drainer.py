"""The resident drainer: delivers the changes of all databases a moment after their commits.

Each database has a thread for its ordinary lanes, one for its slow lanes (bulk, waiting, folded),
and one for requests to servers of others. So none of these, and no other database, delays a change.
A thread removes its wake-up before it reads rows, so a commit that the read does not see wakes it
again.
"""

import threading
from collections.abc import Iterable, Sequence

import structlog
from django.db import close_old_connections, connections

from infra.changes.errors import UNREACHABLE, LeaseLost
from infra.changes.held_lanes import POLL_S, HeldLanes, Outage, Recoveries
from infra.changes.lanes import THREADS, LaneGroup, all_lanes
from infra.changes.lease import Heartbeat, lease
from infra.changes.wake_up import wake
from infra.sharding.connection_health import give_back_connections

# Between two attempts to get leases that another drainer holds.
STANDBY_S = 1.0
# A thread that waits for a database that hangs is given up after this time.
STOP_S = 30.0
log = structlog.get_logger()


class Drainer:
    """All threads of one process."""

    def __init__(self) -> None:
        self._stopping, self._recoveries = threading.Event(), Recoveries()
        self._threads: list[LaneThread] = []
        self._covered: set[str] = set()

    def cover(self, aliases: Iterable[str]) -> None:
        """Starts the threads of those databases that have none. A shard may be added any time."""
        for alias in aliases:
            if alias in self._covered:
                continue
            self._covered.add(alias)
            for groups in THREADS:
                thread = LaneThread(alias, groups, self._stopping, self._recoveries)
                self._threads.append(thread)
                thread.start()

    def stop(self) -> None:
        """Waits for the batches in hand."""
        self._stopping.set()
        for alias in self._covered:
            wake(alias, *all_lanes())  # a thread that waits for a wake-up looks nowhere else
        for thread in self._threads:
            thread.join(STOP_S)


class LaneThread(threading.Thread):
    """Drains the lanes of some groups of one database until it is stopped."""

    def __init__(
        self,
        alias: str,
        groups: Sequence[LaneGroup],
        stopping: threading.Event,
        recoveries: Recoveries,
    ) -> None:
        super().__init__(name=f"drain-{alias}-{groups[0].name.lower()}", daemon=True)
        self._alias, self._groups, self._stopping = alias, groups, stopping
        self._recoveries, self._database = recoveries, Outage(alias, recoveries)

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                close_old_connections()
                pause_s = self._hold_lanes()
                give_back_connections()
                self._stopping.wait(pause_s)
                continue
            except LeaseLost as error:
                log.warning("drainer.lease_lost", alias=self._alias, error=str(error))
            except UNREACHABLE as error:
                self._database.begin(error)
            except Exception:
                log.exception("drainer.failed", alias=self._alias)
            self._stopping.wait(POLL_S)
        connections.close_all()

    def _hold_lanes(self) -> float:
        """Drains the lanes that it gets the leases of. Returns after how long to ask again."""
        lanes = all_lanes(self._groups)
        with lease(self._alias, lanes) as tokens:
            self._database.end()
            if tokens:
                with Heartbeat(self._alias, tokens) as heartbeat:
                    held = HeldLanes(self._alias, tokens, self._recoveries)
                    self._drain(held, heartbeat, is_complete=len(tokens) == len(lanes))
        return 0.0 if tokens else STANDBY_S

    def _drain(self, held: HeldLanes, heartbeat: Heartbeat, is_complete: bool) -> None:
        """Until it is stopped, or the leases can no longer be renewed, or some are missing."""
        while not self._stopping.is_set() and heartbeat.is_beating:
            heartbeat.progress()
            if not held.drain():
                held.wait(self._stopping)
                if not is_complete:
                    return
