"""One process of Tideline that a tool starts: web, worker or compensator."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals

from lab.services.spawn import spawn

CHECKOUT = Path(__file__).resolve().parents[2]
_POLL_S = 0.01


class Child:
    """A process whose output goes to `log`. Safety: start it from the main thread.

    When this process is killed, the child receives `death_signal`. SIGKILL is wrong for a child
    with children of its own: it must be able to end them.
    """

    # A process that needs longer to stop is killed.
    stop_s = 10.0

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

    @property
    def pid(self) -> int:
        """The first of its processes. Raises RuntimeError before the first start."""
        if self._process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process else None

    def begin(self) -> None:
        """Starts the process and returns at once."""
        self._begin(self._argv, self._environment, CHECKOUT)

    def _begin(self, argv: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self._signal_all(SIGKILL)
        self._is_stopping = False
        self._process = spawn(
            argv, self.log, env=environment, death_signal=self._death_signal, cwd=folder
        )

    def begin_stop(self) -> None:
        """Asks the process to end and returns at once.

        It asks once: for a command the second signal means that it must drop its batch.
        """
        if self._process and not self._is_stopping:
            self._is_stopping = True
            self._process.terminate()

    def stop(self) -> bool:
        """Returns when the process has ended, and whether it needed no kill."""
        self.begin_stop()
        ended = self.wait_for_exit(self.stop_s)
        self.kill()
        return ended

    def wait_for_exit(self, within_s: float) -> bool:
        """Whether it ended by itself, for example at a failpoint."""
        deadline = time.monotonic() + within_s
        while self.is_running and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return not self.is_running

    def kill(self) -> None:
        """kill -9 of all its processes."""
        self._signal_all(SIGKILL)
        if self._process:
            self._process.wait()

    def pause(self) -> None:
        """All its processes hang."""
        if self.is_running:
            self._signal_all(SIGSTOP)

    def resume(self) -> None:
        if self.is_running:
            self._signal_all(SIGCONT)

    def _signal_all(self, number: Signals) -> None:
        """To all processes that it started: a child of a killed web server holds the port."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
