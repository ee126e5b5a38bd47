"""The harness's side of the proxy: one link between each process and each store."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from config.runner.child import CHECKOUT


class Links:
    """Links have names "PROCESS:STORE", for example "web0:shard1". Patterns have `*`."""

    def __init__(self, process: "subprocess.Popen[str]", targets: Mapping[str, str]) -> None:
        self._process = process
        self.ports: dict[str, int] = self._ask({"links": dict(targets)})

    def open(self, match: str = "*", delay_s: float = 0.0) -> None:
        """Bytes pass again, each piece `delay_s` late."""
        self._ask({"match": match, "mode": "open", "delay_s": delay_s})

    def stall(self, match: str) -> None:
        """Nothing passes, and connections stay open: a network that swallows packets."""
        self._ask({"match": match, "mode": "stall"})

    def cut(self, match: str) -> None:
        """Connections are reset, and new ones too."""
        self._ask({"match": match, "mode": "cut"})

    def _ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def running_links(targets: Mapping[str, str]) -> Iterator[Links]:
    """`targets`: the path of the store's socket for each link."""
    command = [sys.executable, "-m", "faults.proxy"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=CHECKOUT) as process:
        try:
            yield Links(process, targets)
        finally:
            process.kill()
