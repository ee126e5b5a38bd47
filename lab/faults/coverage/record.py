"""What the processes of a run reached: a file of names for each process, in one folder."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.telemetry.reached_branches import observe_reached

# The folder. The harness sets it for its processes; nothing of the product reads it.
VARIABLE = "FAULTS_REACHED"


class ReachedFile:
    """Writes each name once for each process, at once: the process may be killed in the next step.

    A forked process has a file of its own, without what its parent had reached.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, name: str) -> None:
        if name in self._names:
            return
        with self._lock:
            self._names.add(name)
            with (self._folder / f"{os.getpid()}").open("a") as names:
                names.write(f"{name}\n")


def record_reached() -> None:
    """From now on, if the harness asks for it."""
    if folder := os.environ.get(VARIABLE):
        observe_reached(ReachedFile(Path(folder)))


@contextmanager
def recording_run() -> Iterator[Path]:
    """The processes that this one starts during the block record in a new folder."""
    with TemporaryDirectory(prefix="tideline-reached-") as folder:
        os.environ[VARIABLE] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[VARIABLE]


def recording_environment() -> dict[str, str]:
    """What a child needs to record too."""
    return {VARIABLE: os.environ[VARIABLE]} if VARIABLE in os.environ else {}


def read_reached(folder: Path) -> set[str]:
    """All names in the folder."""
    return {name for path in folder.iterdir() for name in path.read_text().split()}
