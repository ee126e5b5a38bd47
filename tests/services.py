"""Throw-away PostgreSQL and Redis servers: one set for a test session, others for fault tests."""

import atexit
import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

from lab.services import RunningServices, Search, running_services, throw_away_services
from lab.services.throw_away import StartServices
from tests.migrated_data import provide_migrated_data
from tests.replica_servers import replicated_services


class SessionServices:
    """The servers of one pytest session, stopped and deleted by `stop`, at the latest at exit."""

    def __init__(self, block: AbstractContextManager[RunningServices]) -> None:
        self._stack = ExitStack()
        os.environ.update(self._stack.enter_context(block).environment())
        atexit.register(self.stop)

    def stop(self) -> None:
        self._stack.close()


def start_for_session() -> SessionServices:
    """Starts what the environment names no URL for, and puts the URLs into os.environ.

    Called once, by the process that starts the test workers: they inherit the URLs, and the
    servers die with that process. Cost: 1.5 s.
    """
    return SessionServices(throw_away_services(environ=dict(os.environ)))


def private_services(
    shard_count: int = 4, search: Search | None = None
) -> AbstractContextManager[RunningServices]:
    """Servers a test may kill, hang and restart; URLs in the environment do not matter."""
    start = partial(running_services, durable=False, shard_count=shard_count, search=search)
    return throw_away_services(start)


def migrated_services(
    replica_counts: Mapping[str, int] | None = None,
) -> AbstractContextManager[RunningServices]:
    """The same with the tables of Tideline: default and four shards, some with replicas."""
    start: StartServices = partial(running_services, durable=False)
    if replica_counts:
        start = partial(replicated_services, counts=replica_counts)
    return throw_away_services(start, prepare=provide_migrated_data)


def are_gone(pids: Iterable[int]) -> bool:
    """Whether all these processes have ended; one that nobody reaped has."""
    return not any(map(_is_alive, pids))


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
