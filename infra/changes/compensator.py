"""The resident compensator. Each database has a thread, so a slow one delays no other.

A pass drains what a failure left. Between two passes the periodic tasks of the database run that
are due.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog
from django.db import close_old_connections, connections

from infra.changes.compensate import build_periodic_runner, compensate_or_skip
from infra.changes.errors import UNREACHABLE
from infra.changes.periodic import maintain_partitions
from infra.jobs.types import Batch
from infra.sharding.connection_health import give_back_connections

UPKEEP_EVERY = timedelta(hours=1)
LOOK_EVERY_S = 0.5
# A periodic task is so late at most while nothing else runs.
TASKS_EVERY_S = 1.0
# A thread whose batch takes longer is given up when the process stops. Its rows stay pending.
STOP_S = 30.0
log = structlog.get_logger()


class Compensator:
    """All threads of one process."""

    def __init__(self, list_aliases: Callable[[], Iterable[str]], every_s: float) -> None:
        """`list_aliases` is asked again and again: a shard may be added any time."""
        self._list_aliases, self._every_s = list_aliases, every_s
        self._stopping = threading.Event()
        self._done: queue.SimpleQueue[Batch | Exception] = queue.SimpleQueue()
        self._threads: dict[str, DatabaseThread] = {}

    def iter_batches(self, is_stopping: Callable[[], bool]) -> Iterator[Batch]:
        """The batches of all threads, until a stop is requested. Raises: a fault of a thread.

        The last batch counts what the threads had in hand.
        """
        try:
            while not is_stopping():
                self._cover()
                with suppress(queue.Empty):
                    yield _batch_of(self._done.get(timeout=LOOK_EVERY_S))
        finally:
            self._stop()
        yield self._count_rest()

    def _cover(self) -> None:
        close_old_connections()
        for alias in self._list_aliases():
            if alias not in self._threads:
                thread = DatabaseThread(alias, self._every_s, self._stopping, self._done)
                self._threads[alias] = thread
                thread.start()

    def _stop(self) -> None:
        self._stopping.set()
        for thread in self._threads.values():
            thread.join(STOP_S)

    def _count_rest(self) -> Batch:
        batches: list[Batch] = []
        while not self._done.empty():
            batches.append(_batch_of(self._done.get()))
        return Batch(
            sum(batch.done for batch in batches), sum(batch.failed for batch in batches), "the last"
        )


def _batch_of(result: Batch | Exception) -> Batch:
    if isinstance(result, Exception):
        raise result
    return result


class DatabaseThread(threading.Thread):
    """Passes over one database, with a pause of `every_s`, until it is stopped."""

    def __init__(
        self,
        alias: str,
        every_s: float,
        stopping: threading.Event,
        done: "queue.SimpleQueue[Batch | Exception]",
    ) -> None:
        super().__init__(name=f"compensate-{alias}", daemon=True)
        self._alias, self._every_s, self._stopping, self._done = alias, every_s, stopping, done
        self._periodic = build_periodic_runner()
        self._maintained_at = datetime.min.replace(tzinfo=UTC)

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                # Treat each pass like a request: drop broken connections when it starts.
                close_old_connections()
                self._pass()
                self._run_tasks_until(time.monotonic() + self._every_s)
        except Exception as fault:  # the process ends with it
            self._done.put(fault)
        finally:
            connections.close_all()

    def _pass(self) -> None:
        self._maintain_partitions(datetime.now(UTC))
        for batch in compensate_or_skip(self._alias):
            self._done.put(batch)
            if self._stopping.is_set():
                return

    def _run_tasks_until(self, ends_s: float) -> None:
        while not self._stopping.is_set():
            close_old_connections()  # what ran before may have broken one
            self._periodic.run_due([self._alias])
            give_back_connections()
            left_s = ends_s - time.monotonic()
            if left_s <= 0:
                return
            self._stopping.wait(min(left_s, TASKS_EVERY_S))

    def _maintain_partitions(self, now: datetime) -> None:
        if now - self._maintained_at < UPKEEP_EVERY:
            return
        self._maintained_at = now
        maintain_or_warn(self._alias, now)


def maintain_or_warn(alias: str, now: datetime) -> None:
    """Maintains the partitions of one database, if it answers."""
    try:
        maintain_partitions(alias, now.date())
    except UNREACHABLE as error:
        log.warning("compensate.partitions_not_maintained", alias=alias, error=str(error))
