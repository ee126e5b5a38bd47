"""Servers that a test or a harness starts, breaks and throws away."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path

from lab.services.delete_data import delete_data
from lab.services.errors import DataInUse
from lab.services.process_tree import resume_tree
from lab.services.running import RunningServices, running_services

PREFIX = "tideline-test-"
# Nothing else of the environment: it may name servers.
SEARCHED = {"PATH": os.environ.get("PATH", "")}
# A folder younger than this may belong to a session: before it has taken its lock, or the migrated
# databases that all its processes copy, which have none.
_ABANDONED_AFTER_S = 3 * 3_600
StartServices = Callable[..., AbstractContextManager[RunningServices]]
_start_usual = partial(running_services, durable=False)


@contextmanager
def throw_away_services(
    start: StartServices = _start_usual,
    environ: Mapping[str, str] = SEARCHED,
    prepare: Callable[[Path], object] = lambda _: None,
) -> Iterator[RunningServices]:
    """Servers in a new folder, which is deleted at the end. The block may kill and hang them.

    `start` gets the folder and `environ`. Before, `prepare` may put something into the folder.
    Safety: call it from the main thread. Cost: 1.5 s.
    """
    _delete_abandoned()
    data = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        prepare(data)
        with start(data, environ=environ) as services:
            try:
                yield services
            finally:
                for server in services.servers:
                    if server.is_running:  # a server that hangs would not stop
                        resume_tree(server.process.pid)
    finally:
        delete_data(data)


def _delete_abandoned() -> None:
    """What killed processes left: their servers are gone, their folders are not."""
    for data in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with suppress(DataInUse, OSError):
            if time.time() - data.stat().st_mtime > _ABANDONED_AFTER_S:
                delete_data(data)
