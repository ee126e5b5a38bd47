"""One server process: started, watched, stopped, killed, hung, brought back."""

import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals

from config.services.errors import ServerDidNotStart
from config.services.locks import RELEASE_WAIT_S, locked
from config.services.logs import log_tail
from config.services.process_tree import process_tree, send
from config.services.server_user import ServerUser
from config.services.spawn import server_environment, spawn

# Recovery after a crash reads at most `max_wal_size` of log.
_START_S = 60.0
_STOP_S = 15.0
# Servers tell nobody when they are ready.
_POLL_S = 0.01


class Server(ABC):
    """Started from the main thread only; not safe for several threads."""

    stop_signal: Signals
    death_signal: Signals

    def __init__(self, name: str, lock: Path, log: Path, user: ServerUser) -> None:
        self.name = name
        self._lock = lock
        self._log = log
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def remove_leftovers(self) -> None:
        """Deletes what a killed server left; called when it is certain that none runs."""

    @abstractmethod
    def is_ready(self) -> bool: ...

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the server and returns when it answers. Raises ServerDidNotStart, DataInUse."""
        self.begin()
        self.wait_until_ready()

    def begin(self) -> None:
        """Starts the process and returns at once, so that several start side by side."""
        with locked(self._lock, RELEASE_WAIT_S) as lock:
            self.remove_leftovers()
            self._process = spawn(
                self.command(),
                self._log,
                env=server_environment(),
                user=self._user,
                death_signal=self.death_signal,
                keep_open=[lock],
            )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_S
        while not self.is_ready():
            if not self.is_running:
                raise self._did_not_start(f"exit code {self._process and self._process.poll()}")
            if time.monotonic() > deadline:
                raise self._did_not_start(f"no answer within {_START_S:.0f} s")
            time.sleep(_POLL_S)

    def begin_stop(self) -> None:
        """Asks the server to stop and returns at once."""
        if self.is_running:
            self.resume()
            self._signal(self.stop_signal)

    def stop(self) -> None:
        """Returns when the server has stopped; it is killed when that takes over 15 s."""
        self.begin_stop()
        try:
            self._wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """The server and all its processes are gone at once, as in a power cut."""
        if self.is_running:
            # Stopped first: a process that ends lets go of its children, and they get away.
            self.pause()
            for pid in reversed(self._tree()):
                send(pid, SIGKILL)
            self._wait(_STOP_S)

    def pause(self) -> None:
        """The server hangs: connections stay open and nothing answers."""
        self._signal(SIGSTOP)
        for pid in self._tree():
            send(pid, SIGSTOP)

    def resume(self) -> None:
        for pid in self._tree():
            send(pid, SIGCONT)

    def _signal(self, signal: Signals) -> None:
        if self._process:
            self._process.send_signal(signal)

    def _wait(self, timeout_s: float) -> None:
        if self._process:
            self._process.wait(timeout_s)

    def _tree(self) -> list[int]:
        return process_tree(self._process.pid) if self._process and self.is_running else []

    def _did_not_start(self, reason: str) -> ServerDidNotStart:
        return ServerDidNotStart(self.name, reason, self._log, log_tail(self._log))
