"""Runs a program of Tideline with failpoints armed.

    python -m lab.faults.cluster.with_failpoints PROGRAM ...

PROGRAM is a module (`web`) or a script (`manage.py`). The variable FAULTS_ARMED is JSON:
{failpoint: {"do": "exit" | "raise" | "sleep", "after": passes before it, "times": how often,
"seconds": of the sleep}}. Nothing of the product reads it. Processes that the program forks inherit
what is armed. The first time that something happens at a failpoint, the log says so.
"""

import json
import multiprocessing
import os
import runpy
import sys
import time
from collections.abc import Callable, Mapping
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from infra.changes.failpoints import arm
from lab.faults.coverage.record import record_reached

VARIABLE = "FAULTS_ARMED"
EXIT_CODE = 86
# In the log, with the name of the failpoint.
HAPPENED = "armed failpoint happened: "


class FailpointRaised(RuntimeError):
    """A failpoint that was armed to raise."""


class ArmedAction:
    """What happens at one failpoint. The passes of forked processes and threads count together."""

    def __init__(self, name: str, plan: Mapping[str, Any]) -> None:
        self._name = name
        self._do: Callable[[float], None] = _ACTIONS[plan["do"]]
        self._first = plan.get("after", 0)
        self._end = self._first + plan.get("times", 1)
        self._seconds = plan.get("seconds", 0.0)
        self._passes: Synchronized[int] = multiprocessing.get_context("fork").Value("q", 0)

    def __call__(self) -> None:
        with self._passes.get_lock():
            number = self._passes.value
            self._passes.value += 1
        if number == self._first:
            sys.stderr.write(f"{HAPPENED}{self._name}\n")
            sys.stderr.flush()
        if self._first <= number < self._end:
            self._do(self._seconds)


def _exit(_: float) -> None:
    """As kill -9: no `finally`, no answer to the client, no rollback sent."""
    os._exit(EXIT_CODE)


def _raise(_: float) -> None:
    raise FailpointRaised


_ACTIONS: dict[str, Callable[[float], None]] = {
    "exit": _exit,
    "raise": _raise,
    "sleep": time.sleep,
}


def main() -> None:
    record_reached()
    for name, plan in json.loads(os.environ.get(VARIABLE, "{}")).items():
        arm(name, ArmedAction(name, plan))
    program = sys.argv[1]
    del sys.argv[0]
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
