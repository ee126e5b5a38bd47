"""A child process that obeys orders: one JSON line in, one JSON line out."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.faults.cluster.versions import environment_of
from lab.runner.child import CHECKOUT


class OrderedProcess:
    """Safety: one thread at a time."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, order: Mapping[str, Any]) -> Any:
        """The answer to an order. Raises RuntimeError when the process has ended."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args!r} has ended")
        return json.loads(line)


@contextmanager
def obeying(
    module: str, environment: Mapping[str, str] | None = None, checkout: Path = CHECKOUT
) -> Iterator[OrderedProcess]:
    """The module as a process during the block. `checkout`: whose product it imports."""
    with subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=checkout,
        env=None if environment is None else environment_of(environment),
    ) as process:
        try:
            yield OrderedProcess(process)
        finally:
            process.kill()
