"""A Celery worker with one process that can be killed."""

import os
import signal
import subprocess
import sys
from types import TracebackType

COMMAND = [
    *("-m", "celery", "-A", "lab.bench.peers.contenders.queue", "worker"),
    *("--concurrency", "1", "--loglevel", "ERROR", "--without-gossip", "--without-mingle"),
]


class Worker:
    def __enter__(self) -> "Worker":
        self._process = subprocess.Popen(
            [sys.executable, *COMMAND],
            env=os.environ | {"C_FORCE_ROOT": "1"},  # otherwise it refuses pickle when root runs it
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )
        return self

    def kill(self) -> None:
        """Kills the worker and its child with SIGKILL, as a lack of memory or power would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
