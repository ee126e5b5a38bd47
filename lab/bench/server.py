"""The web server of the workloads."""

import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lab.runner.port import free_port
from lab.runner.programs import web_command, web_workers
from lab.services.spawn import spawn

ROOT = Path(__file__).resolve().parents[2]
THREADS = 4


class BenchServer(NamedTuple):
    address: tuple[str, int]
    pid: int

    @property
    def url(self) -> str:
        return "http://{}:{}".format(*self.address)


def product_server() -> AbstractContextManager[BenchServer]:
    """The web server of `make run`."""
    port = free_port()
    return _running(port, [sys.executable, *web_command(port, linger_s=0)], {})


def floor_server(application: str, **environment: str) -> AbstractContextManager[BenchServer]:
    """Granian alone, with as many processes and threads, and extra environment variables."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1",
        "--port", str(port), "--workers", str(web_workers()), "--blocking-threads", str(THREADS),
        # A worker that has just begun may miss that it is to stop.
        "--no-ws", "--workers-kill-timeout", "5", "--log-level", "warning", application,
    ]  # fmt: skip
    return _running(port, command, environment)


@contextmanager
def bare_server(bodies: Mapping[str, bytes]) -> Iterator[BenchServer]:
    """A bare Django view. `/bare?NAME` returns the body of this name."""
    with TemporaryDirectory() as folder:
        for name, body in bodies.items():
            (Path(folder) / name).write_bytes(body)
        with floor_server("lab.bench.bare:application", BENCH_BODIES=folder) as server:
            yield server


@contextmanager
def _running(
    port: int, command: list[str], environment: Mapping[str, str]
) -> Iterator[BenchServer]:
    # It ends with this process, also after a kill: another benchmark would run next to it.
    process = spawn(
        command, None, env={**os.environ, **environment}, death_signal=SIGTERM, cwd=ROOT
    )
    try:
        _wait_for(port)
        yield BenchServer(("127.0.0.1", port), process.pid)
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)  # Granian sends no signal when it is ready
        else:
            return
    raise RuntimeError("the web server did not start")
