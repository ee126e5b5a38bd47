"""Throw-away PostgreSQL and Redis servers: one set for a test session, others for fault tests."""

import atexit
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from lab.services import RunningServices, Search, running_services
from lab.services.delete_data import delete_data
from lab.services.errors import DataInUse
from tests.migrated_data import PREFIX, provide_migrated_data
from tests.replica_servers import replicated_services
from tests.server_faults import resume

# Nothing else of the environment: it may name servers.
_PATH = {"PATH": os.environ.get("PATH", "")}
# A folder younger than this may belong to a session that has not taken its lock yet.
_ABANDONED_AFTER_S = 600


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
    start = partial(running_services, durable=False)
    return SessionServices(_throw_away_services(dict(os.environ), start))


def private_services(
    shard_count: int = 4, search: Search | None = None
) -> AbstractContextManager[RunningServices]:
    """Servers a test may kill, hang and restart; URLs in the environment do not matter."""
    start = partial(running_services, durable=False, shard_count=shard_count, search=search)
    return _throw_away_services(_PATH, start)


def migrated_services(
    replica_counts: Mapping[str, int] | None = None,
) -> AbstractContextManager[RunningServices]:
    """The same with the tables of Tideline: default and four shards, some with replicas."""
    start: Callable[..., AbstractContextManager[RunningServices]]
    start = partial(running_services, durable=False)
    if replica_counts:
        start = partial(replicated_services, counts=replica_counts)
    return _throw_away_services(_PATH, start, provide_migrated_data)


@contextmanager
def _throw_away_services(
    environ: Mapping[str, str],
    start: Callable[..., AbstractContextManager[RunningServices]],
    prepare: Callable[[Path], object] = lambda _: None,
) -> Iterator[RunningServices]:
    _delete_abandoned()
    data = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        prepare(data)
        with start(data, environ=environ) as services:
            try:
                yield services
            finally:
                for server in services.servers:
                    resume(server)  # a server that hangs would not stop
    finally:
        delete_data(data)


def _delete_abandoned() -> None:
    """What sessions left that were killed: their servers are gone, their folders are not."""
    for data in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with suppress(DataInUse, OSError):
            if time.time() - data.stat().st_mtime > _ABANDONED_AFTER_S:
                delete_data(data)


def are_gone(pids: Iterable[int]) -> bool:
    """Whether all these processes have ended; one that nobody reaped has."""
    return not any(map(_is_alive, pids))


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
