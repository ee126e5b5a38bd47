"""One process of Tideline that `make run` starts: web, worker or compensator."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, Signals

from lab.services.spawn import spawn

CHECKOUT = Path(__file__).resolve().parents[2]
_STOP_S = 10.0


class Child:
    """A process whose output goes to `log`. Safety: start it from the main thread.

    When this process is killed, the child receives `death_signal`. SIGKILL is wrong for a child
    with children of its own: it must be able to end them.
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
        self._is_stopping = False

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def begin(self) -> None:
        """Starts the process and returns at once."""
        self._kill_session()
        self._is_stopping = False
        self._process = spawn(
            self._argv,
            self.log,
            env=self._environment,
            death_signal=self._death_signal,
            cwd=CHECKOUT,
        )

    def begin_stop(self) -> None:
        """Asks the process to end and returns at once.

        It asks once: for a command the second signal means that it must drop its batch.
        """
        if self._process and not self._is_stopping:
            self._is_stopping = True
            self._process.terminate()

    def stop(self) -> None:
        """Returns when the process has ended. A process that needs over 10 s is killed."""
        self.begin_stop()
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_S)
            self._kill_session()
            self._process.wait()

    def _kill_session(self) -> None:
        """Kills all processes that it started: a child of a killed web server holds the port."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)
