"""The floor of the workloads: a web server that does nothing but return bytes."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lab.runner.child import Child
from lab.runner.installation import Installation
from lab.runner.port import HOST, free_port
from lab.runner.programs import web_workers

THREADS = 4


class BenchServer(NamedTuple):
    address: tuple[str, int]
    pid: int

    @property
    def url(self) -> str:
        return "http://{}:{}".format(*self.address)


@contextmanager
def bare_server(bodies: Mapping[str, bytes]) -> Iterator[BenchServer]:
    """A bare Django view. `/bare?NAME` returns the body of this name.

    Granian alone serves it, with as many processes and threads as the product.
    """
    port = free_port()
    with TemporaryDirectory() as bodies_folder, TemporaryDirectory() as logs:
        for name, body in bodies.items():
            (Path(bodies_folder) / name).write_bytes(body)
        environment = os.environ | {"BENCH_BODIES": bodies_folder}
        # It ends with this process, also after a kill: another benchmark would run next to it.
        bare = Child("bare", _command(port), Path(logs) / "bare.log", environment, SIGTERM)
        floor = Installation(environment, Path(logs), {"bare": port}, {"bare": bare})
        with floor.running(f"/bare?{next(iter(bodies))}"):
            yield BenchServer((HOST, port), bare.pid)


def _command(port: int) -> list[str]:
    return [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", HOST,
        "--port", str(port), "--workers", str(web_workers()), "--blocking-threads", str(THREADS),
        # A worker that has just begun may miss that it is to stop.
        "--no-ws", "--workers-kill-timeout", "5", "--log-level", "warning",
        "lab.bench.bare:application",
    ]  # fmt: skip
