"""The folder in which the processes of one machine leave what they counted.

{name}.alive    held locked by the process as long as it lives, whatever kills it
{name}.counts   its last snapshot
dead.counts     {"folded": [name, …], "snapshot": …}: the counts of those that ended, added up
lock            held while a process begins, and while somebody reads

A process that ended is folded into dead.counts by the next one that reads: the folder is as large
as what lives. `folded` names those whose files may still be there, if that reader was killed.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from infra.telemetry.merging import add_up
from infra.telemetry.snapshots import Snapshot, decode, encode


class EndedProcesses(msgspec.Struct):
    folded: list[str]
    snapshot: Snapshot


class MachineSnapshots(NamedTuple):
    """Snapshots of the processes that live, but for the reader's own, and of the dead."""

    living: list[Snapshot]
    dead: Snapshot | None


class SnapshotFolder:
    """The folder. Processes of several containers may share it: it goes by locks, not by pids."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, but: str = "") -> MachineSnapshots:
        """Raises OSError. `but`: the reader itself. Cost: a file a process, some milliseconds."""
        with self._locked():
            names = [path.stem for path in sorted(self.folder.glob("*.alive"))]
            ended = [name for name in names if self._has_ended(name)]
            dead = self._fold(ended)
            living = [name for name in names if name not in ended and name != but]
            found = [one for name in living if (one := self._snapshot_of(name))]
            return MachineSnapshots(found, dead.snapshot if dead else None)

    def begin(self) -> "SnapshotWriter":
        """A new process's place. Raises OSError."""
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        with self._locked():
            alive = os.open(self._path(name, "alive"), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(alive, fcntl.LOCK_EX)
        return SnapshotWriter(self, name, alive)

    def write(self, name: str, body: bytes) -> None:
        """In one step: nobody reads half of it."""
        unfinished = self._path(name, "new")
        unfinished.write_bytes(body)
        unfinished.replace(self._path(name, "counts"))

    def _fold(self, ended: list[str]) -> EndedProcesses | None:
        """Adds those that ended to the dead, then deletes them; killed in between, only that."""
        dead = self._dead()
        folded = set(dead.folded if dead else ())
        fresh = [one for name in ended if name not in folded and (one := self._snapshot_of(name))]
        if fresh:
            before = [dead.snapshot] if dead else []
            dead = EndedProcesses(ended, Snapshot("dead", add_up(*before, *fresh)))
            self.write("dead", msgspec.msgpack.encode(dead))
        for name in ended:
            for kind in ("new", "counts", "alive"):
                self._path(name, kind).unlink(missing_ok=True)
        return dead

    def _has_ended(self, name: str) -> bool:
        try:
            with open(self._path(name, "alive")) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _snapshot_of(self, name: str) -> Snapshot | None:
        """None: not written yet, or by a version that writes something else."""
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            return decode(self._path(name, "counts").read_bytes())
        return None

    def _dead(self) -> EndedProcesses | None:
        with suppress(FileNotFoundError, msgspec.MsgspecError):
            return msgspec.msgpack.decode(
                self._path("dead", "counts").read_bytes(), type=EndedProcesses
            )
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
    """Where one process writes. Its lock ends with the process, and with `leave`."""

    def __init__(self, machine: SnapshotFolder, name: str, alive: int) -> None:
        self._machine, self.name, self._alive = machine, name, alive

    def write(self, snapshot: Snapshot) -> None:
        """Raises OSError."""
        self._machine.write(self.name, encode(snapshot))

    def leave(self) -> None:
        """Closes the lock: for the process itself its end; a fork only lets go of its copy."""
        os.close(self._alive)
