"""One long-running process of Tideline: web, worker, compensator."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM

from config.services.spawn import spawn

CHECKOUT = Path(__file__).resolve().parents[2]
_STOP_S = 10.0


class Child:
    """Started from the main thread only. Its output goes to `log`."""

    def __init__(
        self, name: str, argv: Sequence[str], log: Path, environment: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = log
        self._argv = argv
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def begin(self) -> None:
        """Starts the process and returns at once; it dies with this one."""
        self._end_what_is_left()
        self._process = spawn(
            self._argv, self.log, env=self._environment, death_signal=SIGTERM, cwd=CHECKOUT
        )

    def stop(self) -> None:
        """Asks it to finish what it does, and kills it when that takes over 10 s."""
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.terminate()
                self._process.wait(_STOP_S)
            self._end_what_is_left()
            self._process.wait()

    def _end_what_is_left(self) -> None:
        """Of its session: a web server that was killed leaves a process that holds the port."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)
