"""One long-running process of Tideline: web, worker, compensator."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, Signals

from config.services.spawn import spawn

CHECKOUT = Path(__file__).resolve().parents[2]
_STOP_S = 10.0


class Child:
    """Started from the main thread only; its output goes to `log`.

    It gets `death_signal` when this process is killed: SIGKILL unless it has processes of its own
    to take along.
    """

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        death_signal: Signals = SIGKILL,
    ) -> None:
        self.name = name
        self.log = log
        self._argv = argv
        self._environment = environment
        self._death_signal = death_signal
        self._process: subprocess.Popen[bytes] | None = None
        self._is_asked = False

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def begin(self) -> None:
        """Starts the process and returns at once; it dies with this one."""
        self._end_what_is_left()
        self._is_asked = False
        self._process = spawn(
            self._argv,
            self.log,
            env=self._environment,
            death_signal=self._death_signal,
            cwd=CHECKOUT,
        )

    def begin_stop(self) -> None:
        """Asks it to finish what it does and returns at once."""
        if self._process and not self._is_asked:
            # Once: commands take a second request as "now, whatever you are doing".
            self._is_asked = True
            self._process.terminate()

    def stop(self) -> None:
        """Returns when it has ended; it is killed when that takes over 10 s."""
        self.begin_stop()
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_S)
            self._end_what_is_left()
            self._process.wait()

    def _end_what_is_left(self) -> None:
        """Of its session: a web server that was killed leaves a process that holds the port."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)
