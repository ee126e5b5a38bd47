"""Each process's part in /metrics of its machine: a thread that writes down what it counted.

Counting itself stays in memory, where it costs a third of what it costs in a shared file
(decision 0021). What a process counted in its last EVERY_S is lost with `kill -9`, no more.
"""

import atexit
import os
import threading
from hashlib import blake2b
from multiprocessing.util import Finalize
from pathlib import Path

import structlog
from django.conf import settings
from prometheus_client import Metric

from infra.telemetry.merging import merge
from infra.telemetry.snapshot_folder import SnapshotFolder, SnapshotWriter
from infra.telemetry.snapshots import take_snapshot

EVERY_S = 5.0
WEB = "web"
log = structlog.get_logger()


class Publisher:
    """One per process. `start` is called by those that live long; others only `collect`."""

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._place: SnapshotWriter | None = None
        self._role = WEB
        self._stopping = threading.Event()
        self._writing = threading.Lock()

    def start(self, folder: Path, role: str) -> None:
        """From now on /metrics of the whole machine has what this process counts, and goes on
        having it when the process has ended. A second call changes nothing.

        Without a folder it can write to it says so, and is seen by nobody.
        """
        if self._place is not None:
            return
        try:
            self._place = SnapshotFolder(folder).begin()
        except OSError as error:
            log.warning("metrics.not_published", folder=str(folder), error=str(error))
            return
        self._role = role
        threading.Thread(target=self._run, name="metrics", daemon=True).start()
        # A child of multiprocessing, as web workers are, ends without atexit.
        atexit.register(self.stop)
        Finalize(self, self.stop, exitpriority=10)

    def stop(self) -> None:
        """Writes for the last time. Nothing after the first call."""
        self._stopping.set()
        with self._writing:
            place, self._place = self._place, None
            if place is not None:
                self._write(place)
                place.leave()

    def collect(self, folder: Path) -> list[Metric]:
        """What all processes of the machine counted; alone this one's, where that is not known.

        Of this process as of now, of others at most EVERY_S old.
        """
        own = take_snapshot(self._role)
        try:
            living, dead = SnapshotFolder(folder).read(but=self._place.name if self._place else "")
        except OSError as error:
            log.warning("metrics.others_not_read", folder=str(folder), error=str(error))
            living, dead = [], None
        return merge([*living, own], dead)

    def forget(self) -> None:
        """In a forked process: it has no such thread, and is not who its parent is."""
        if self._place is not None:
            self._place.leave()
        self._begin_anew()

    def _run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            with self._writing:
                if self._place is not None:
                    self._write(self._place)

    def _write(self, place: SnapshotWriter) -> None:
        try:
            place.write(take_snapshot(self._role))
        except OSError as error:
            log.warning("metrics.not_written", error=str(error))


def metrics_folder() -> Path:
    """Named after the Redis: other installations on the machine may share RUNTIME_DIR."""
    name = blake2b(settings.REDIS_URL.encode(), digest_size=8).hexdigest()
    return Path(settings.RUNTIME_DIR) / f"metrics-{name}"


PUBLISHER = Publisher()
os.register_at_fork(after_in_child=PUBLISHER.forget)
