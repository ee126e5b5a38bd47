"""One process of Tideline that the harness starts, kills, hangs and starts again."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGTERM
from subprocess import Popen, TimeoutExpired
from typing import Any

from lab.faults.cluster.armed import VARIABLE
from lab.faults.cluster.process_tree import kill_tree, pause_tree, resume_tree
from lab.faults.cluster.versions import command_of, environment_of
from lab.runner.child import CHECKOUT
from lab.services.spawn import spawn

Armed = Mapping[str, Mapping[str, Any]]


class TidelineProcess:
    """`program`: arguments of Python. Its output is in `log`, over all its starts. `checkout`: the
    code that its next start runs.

    Safety: start it from the main thread.
    """

    def __init__(
        self,
        name: str,
        program: Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        checkout: Path = CHECKOUT,
    ) -> None:
        self.name = name
        self.checkout = checkout
        self.log = log
        self.program = program
        self.environment = dict(environment)
        self._process: Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The first process. Raises RuntimeError before the first start."""
        if self._process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process else None

    def begin(
        self, armed: Armed | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Starts it and returns at once; `armed` and `environment` hold for this start only."""
        here = environment_of({**self.environment, **(environment or {})})
        own = {**here, VARIABLE: json.dumps(armed or {})}
        command = command_of(self.checkout, self.program)
        self._process = spawn(command, self.log, env=own, cwd=self.checkout, death_signal=SIGTERM)

    def begin_stop(self) -> None:
        """Asks it to end, once."""
        if self.is_running and self._process:
            self._process.terminate()

    def stop(self, within_s: float = 40.0) -> bool:
        """Returns when it has ended, and whether it needed no kill."""
        self.resume()
        self.begin_stop()
        return self.wait(within_s)

    def wait(self, within_s: float) -> bool:
        """Waits for its own end; kills it when that takes longer. Whether it needed no kill."""
        if self._process is None:
            return True
        try:
            self._process.wait(within_s)
        except TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """kill -9 of all its processes."""
        if self.is_running and self._process:
            kill_tree(self._process.pid)
            self._process.wait()

    def pause(self) -> None:
        if self.is_running:
            pause_tree(self.pid)

    def resume(self) -> None:
        if self.is_running:
            resume_tree(self.pid)

    def wait_for_exit(self, within_s: float) -> bool:
        """Whether it ended by itself, for example at a failpoint."""
        deadline = time.monotonic() + within_s
        while self.is_running and time.monotonic() < deadline:
            time.sleep(0.01)
        return not self.is_running
