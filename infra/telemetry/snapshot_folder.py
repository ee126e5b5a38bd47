"""The folder in which the processes of one machine store their snapshots.

{name}.alive     locked by the process as long as it lives; the kernel ends the lock with it
{name}.counts    its last snapshot
ended.counts     {"folded": [name, …], "snapshot": …}: the sum of the processes that ended
lock             held while a process begins and while a process reads

A reader adds the counts of ended processes to ended.counts and deletes their files, so the folder
does not grow. If the reader is killed in between, `folded` says whose files are counted already.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from infra.telemetry.snapshots import Snapshot, add_up, decode, encode


class EndedProcesses(msgspec.Struct):
    folded: list[str]
    snapshot: Snapshot


class MachineSnapshots(NamedTuple):
    """The snapshots of the live processes, without the reader's own, and the sum of the ended."""

    live: list[Snapshot]
    ended: Snapshot | None


class SnapshotFolder:
    """Containers may share the folder: file locks work across them, process ids do not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, without: str = "") -> MachineSnapshots:
        """Raises OSError. `without`: the name of the reader itself. Cost: one file per process."""
        with self._locked():
            names = [path.stem for path in sorted(self.folder.glob("*.alive"))]
            ended = [name for name in names if self._has_ended(name)]
            sum_of_ended = self._fold(ended)
            live = [name for name in names if name not in ended and name != without]
            snapshots = [snapshot for name in live if (snapshot := self._find_snapshot(name))]
            return MachineSnapshots(snapshots, sum_of_ended.snapshot if sum_of_ended else None)

    def open_writer(self) -> "SnapshotWriter":
        """For a process that begins. Raises OSError."""
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        with self._locked():
            alive = os.open(self._path(name, "alive"), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(alive, fcntl.LOCK_EX)
        return SnapshotWriter(self, name, alive)

    def write(self, name: str, body: bytes) -> None:
        """In one step, so that a reader never sees half a file."""
        unfinished = self._path(name, "new")
        unfinished.write_bytes(body)
        unfinished.replace(self._path(name, "counts"))

    def _fold(self, names: list[str]) -> EndedProcesses | None:
        """Adds these ended processes to the sum, then deletes their files."""
        ended = self._find_ended()
        folded = set(ended.folded if ended else ())
        fresh = [
            snapshot
            for name in names
            if name not in folded and (snapshot := self._find_snapshot(name))
        ]
        if fresh:
            before = [ended.snapshot] if ended else []
            ended = EndedProcesses(names, Snapshot("ended", add_up(*before, *fresh)))
            self.write("ended", msgspec.msgpack.encode(ended))
        for name in names:
            for kind in ("new", "counts", "alive"):
                self._path(name, kind).unlink(missing_ok=True)
        return ended

    def _has_ended(self, name: str) -> bool:
        try:
            with open(self._path(name, "alive")) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _find_snapshot(self, name: str) -> Snapshot | None:
        """None: not written yet, or by a version with another format."""
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            return decode(self._path(name, "counts").read_bytes())
        return None

    def _find_ended(self) -> EndedProcesses | None:
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            body = self._path("ended", "counts").read_bytes()
            return msgspec.msgpack.decode(body, type=EndedProcesses)
        return None

    def _path(self, name: str, kind: str) -> Path:
        return self.folder / f"{name}.{kind}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self.folder / "lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class SnapshotWriter:
    """Writes the snapshots of one process. Its lock ends with the process, or with `close`."""

    def __init__(self, folder: SnapshotFolder, name: str, alive: int) -> None:
        self._folder, self.name, self._alive = folder, name, alive

    def write(self, snapshot: Snapshot) -> None:
        """Raises OSError."""
        self._folder.write(self.name, encode(snapshot))

    def close(self) -> None:
        """Closes the lock file. In a forked process this leaves the parent's lock as it is."""
        os.close(self._alive)
