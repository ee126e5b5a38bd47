"""One server process: start it, wait until it answers, stop it."""

import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from signal import Signals

from lab.services.errors import ServerDidNotStart
from lab.services.locks import RELEASE_WAIT_S, locked
from lab.services.server_user import ServerUser
from lab.services.spawn import log_tail, server_environment, spawn

# Recovery after a crash reads at most `max_wal_size` of log.
_START_S = 60.0
_STOP_S = 15.0
# A server does not report when it is ready: this process asks until the server answers.
_POLL_S = 0.01


class Server(ABC):
    """A server that this process starts and stops.

    Safety: start it from the main thread; one thread at a time may use the object.
    """

    stop_signal: Signals
    death_signal: Signals

    def __init__(self, name: str, lock: Path, log: Path, user: ServerUser) -> None:
        self.name = name
        self.log = log
        self.user = user
        self._lock = lock
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def remove_leftovers(self) -> None:
        """Deletes files of a killed server; called only when no server uses the data."""

    @abstractmethod
    def is_ready(self) -> bool: ...

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process that was started last. Raises RuntimeError before the first start."""
        if self._process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._process

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the server and returns when it answers. Raises ServerDidNotStart, DataInUse."""
        self.begin()
        self.wait_until_ready()

    def begin(self) -> None:
        """Starts the process and returns at once, so that several servers start in parallel."""
        with locked(self._lock, RELEASE_WAIT_S) as lock:
            self.remove_leftovers()
            self._process = spawn(
                self.command(),
                self.log,
                env=server_environment(),
                user=self.user,
                death_signal=self.death_signal,
                keep_open=[lock],
            )

    def wait_until_ready(self) -> None:
        """Returns when the server answers. Raises ServerDidNotStart."""
        deadline = time.monotonic() + _START_S
        while not self.is_ready():
            if not self.is_running:
                raise self._did_not_start(f"exit code {self.process.poll()}")
            if time.monotonic() > deadline:
                raise self._did_not_start(f"no answer within {_START_S:.0f} s")
            time.sleep(_POLL_S)

    def begin_stop(self) -> None:
        """Asks the server to stop and returns at once."""
        if self.is_running:
            self.process.send_signal(self.stop_signal)

    def stop(self) -> None:
        """Returns when the server has stopped. A server that needs over 15 s is killed."""
        self.begin_stop()
        if self._process:
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _did_not_start(self, reason: str) -> ServerDidNotStart:
        return ServerDidNotStart(self.name, reason, self.log, log_tail(self.log))
