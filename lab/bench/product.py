"""The whole product as `make run` starts it, on the services of the benchmark."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from infra.changes.sql import SELECT_PENDING
from infra.sharding.placement import all_aliases
from infra.sharding.sql import fetch_one
from lab.bench.cpu import Parts, find_servers
from lab.runner.child import Child
from lab.runner.port import HOST, free_port, is_answering
from lab.runner.programs import list_children

_START_S = 60
_QUIET_S = 60
_POLL_S = 0.05
IS_PENDING = f"SELECT EXISTS ({SELECT_PENDING})"


class Product(NamedTuple):
    """`parts`: the process of each part at the root of its process tree, by name."""

    address: tuple[str, int]
    parts: Parts


@contextmanager
def running_product() -> Iterator[Product]:
    """Web, worker and compensator. Raises RuntimeError when the web server does not start."""
    port = free_port()
    with tempfile.TemporaryDirectory() as logs:
        children = list_children(Path(logs), os.environ, port)
        try:
            for child in children:
                child.begin()
            _await(port, Path(logs))
            roots = {child.name: {_pid(child)} for child in children}
            yield Product((HOST, port), roots | find_servers())
        finally:
            for child in children:
                child.stop()


def wait_until_delivered() -> None:
    """Returns when no change is pending on any database. Raises TimeoutError."""
    deadline = time.monotonic() + _QUIET_S
    while any(fetch_one(alias, IS_PENDING) == (True,) for alias in all_aliases()):
        if time.monotonic() > deadline:
            raise TimeoutError("changes are still pending")
        time.sleep(_POLL_S)


def _await(port: int, logs: Path) -> None:
    deadline = time.monotonic() + _START_S
    while not is_answering(port, "/health/live"):
        if time.monotonic() > deadline:
            raise RuntimeError((logs / "web.log").read_text()[-2000:])
        time.sleep(_POLL_S)


def _pid(child: Child) -> int:
    process = child._process
    if process is None:
        raise RuntimeError(f"{child.name} did not start")
    return process.pid
