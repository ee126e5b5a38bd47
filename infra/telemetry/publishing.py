"""Publishes the metrics of this process to `/metrics` of its machine, by a background thread.

Counting stays in memory, because a count in a shared file costs more than twice as much (decision
0026). A process that is killed loses at most the counts of its last EVERY_S.
"""

import atexit
import threading
from hashlib import blake2b
from multiprocessing.util import Finalize
from pathlib import Path

import structlog
from django.conf import settings
from prometheus_client import Metric

from infra.background import BackgroundThread
from infra.telemetry.snapshot_folder import SnapshotFolder, SnapshotWriter
from infra.telemetry.snapshots import merge_snapshots, take_snapshot

EVERY_S = 5.0
WEB = "web"
log = structlog.get_logger()


class MetricsPublisher(BackgroundThread):
    """One per process. Long-lived processes call `publish`; others only `collect`."""

    name = "metrics"

    def __init__(self) -> None:
        self._writer: SnapshotWriter | None = None
        super().__init__()

    def reset(self) -> None:
        """A forked process has a snapshot and a role of its own."""
        if self._writer is not None:
            self._writer.close()
        super().reset()
        self._writer = None
        self._role = WEB
        self._writing = threading.Lock()

    def publish(self, folder: Path, role: str) -> None:
        """Adds this process to `/metrics` of the machine. Its counts stay there after it ends.

        A second call changes nothing. If the folder cannot be written, a warning is logged.
        """
        if self._writer is not None:
            return
        try:
            self._writer = SnapshotFolder(folder).open_writer()
        except OSError as error:
            log.warning("metrics.not_published", folder=str(folder), error=str(error))
            return
        self._role = role
        self.start()
        # A child of multiprocessing, such as a web worker, ends without atexit.
        atexit.register(self.stop)
        Finalize(self, self.stop, exitpriority=10)

    def stop(self) -> None:
        """Writes the last snapshot. A second call does nothing."""
        self.stopped.set()
        with self._writing:
            writer, self._writer = self._writer, None
            if writer is not None:
                self._write(writer)
                writer.close()

    def collect(self, folder: Path) -> list[Metric]:
        """The metrics of all processes of the machine, or of this one if the folder is unreadable.

        Those of this process are current, those of others at most EVERY_S old.
        """
        own = take_snapshot(self._role)
        try:
            live, ended = SnapshotFolder(folder).read(self._writer.name if self._writer else "")
        except OSError as error:
            log.warning("metrics.others_not_read", folder=str(folder), error=str(error))
            live, ended = [], None
        return merge_snapshots([*live, own], ended)

    def run(self) -> None:
        while not self.stopped.wait(EVERY_S):
            with self._writing:
                if self._writer is not None:
                    self._write(self._writer)

    def _write(self, writer: SnapshotWriter) -> None:
        try:
            writer.write(take_snapshot(self._role))
        except OSError as error:
            log.warning("metrics.not_written", error=str(error))


def metrics_folder() -> Path:
    """Named after the Redis, because several installations on a machine may share RUNTIME_DIR."""
    name = blake2b(settings.REDIS_URL.encode(), digest_size=8).hexdigest()
    return Path(settings.RUNTIME_DIR) / f"metrics-{name}"


PUBLISHER = MetricsPublisher()
