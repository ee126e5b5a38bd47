"""Processes of the product that start in milliseconds: each is forked from one that has loaded it.

So are the workers of a web server. Loading takes more than a second, so there is one process to
fork from for each environment (tests/fork_server.py), as long as the environment is in use.
"""

import os
import socket
import subprocess
import sys
from functools import lru_cache
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from signal import SIGKILL, Signals
from typing import IO, Any, Self

from django.conf import settings

from tests.other_process import environment_of_this_test
from tests.waiting import PATIENCE_S

# Environments: of the test's own servers, of private ones, and a special one.
MOST_SERVERS = 3


class LoadedProcess:
    """A process on the databases of the test. `argv`: for Python, `-m MODULE` or `-c TEXT` first.

    It is used as a `subprocess.Popen` whose input and output are pipes for lines of text.
    """

    def __init__(self, *argv: str, **environment: str) -> None:
        wanted = environment_of_this_test() | environment
        wanted.pop("PYTEST_CURRENT_TEST", None)
        # Else one that lives on would keep the last-post index of the tests' process locked.
        wanted["RUNTIME_DIR"] = _make_folder(wanted["RUNTIME_DIR"])
        self._server = _server(frozenset(wanted.items()))
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self.pid: int = self._server.start(argv, [theirs_in, theirs_out])
        for file in (theirs_in, theirs_out):
            os.close(file)
        self.stdin: IO[str] = os.fdopen(ours_in, "w")
        self.stdout: IO[str] = os.fdopen(ours_out)
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the pipes, and waits for the end."""
        self.stdin.close()
        self.stdout.close()
        self.wait()

    def wait(self) -> int:
        """The exit code; of a process that was killed, the negative number of the signal."""
        if self.returncode is None:
            self.returncode = self._server.ask("wait", self.pid)
        return self.returncode

    def wait_until_stopped(self) -> None:
        self._server.ask("stop", self.pid)

    def kill(self) -> None:
        self.send_signal(SIGKILL)

    def send_signal(self, signal: Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal)


def _make_folder(runtime_dir: str) -> str:
    folder = Path(runtime_dir) / "loaded"
    folder.mkdir(exist_ok=True)
    return str(folder)


def run_loaded(*argv: str, **environment: str) -> tuple[int, str]:
    """The exit code of such a process, and what it has printed."""
    with LoadedProcess(*argv, **environment) as process:
        process.stdin.close()
        printed = process.stdout.read()
        return process.wait(), printed


class _Server:
    """The test's end of a fork server, which ends with it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._connection, theirs = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
            env=environment,
            cwd=settings.BASE_DIR,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()

    def start(self, argv: tuple[str, ...], files: list[int]) -> int:
        self._connection.send(("start", argv))
        with _socket_of(self._connection) as sending:
            socket.send_fds(sending, [b"."], files)
        return int(self._receive())

    def ask(self, word: str, number: int) -> Any:
        self._connection.send((word, number))
        return self._receive()

    def _receive(self) -> Any:
        assert self._connection.poll(PATIENCE_S), "no answer of the fork server"
        return self._connection.recv()

    def __del__(self) -> None:
        self._connection.close()
        self._process.wait()


def _socket_of(connection: Connection) -> socket.socket:
    return socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)


@lru_cache(MOST_SERVERS)
def _server(environment: frozenset[tuple[str, str]]) -> _Server:
    return _Server(dict(environment))
