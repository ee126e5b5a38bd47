"""Tries mutants: each in a copy of the checkout, with the experiments that should catch it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.faults.mutants.mutant import Mutant, apply_mutant
from lab.runner.child import CHECKOUT

# Nothing that a process of the service or a test needs.
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "data")
MOST_S = 900
# What pytest returns.
_TESTS_FAILED = 1


@dataclass(frozen=True)
class Trial:
    """`findings`: what the judges found, (what, detail). `broken`: why there is no verdict."""

    name: str
    experiment: str
    findings: Sequence[tuple[str, str]] = ()
    broken: str = ""

    @property
    def is_caught(self) -> bool:
        return bool(self.findings)


def try_mutant(mutant: Mutant, seed: int) -> Trial:
    """The first trial that caught the mutant, else the last one."""
    with mutated_copy(mutant) as checkout:
        tries = [
            *(partial(run_trial, mutant.name, number, seed) for number in mutant.experiments),
            *(partial(run_test, mutant.name, test) for test in mutant.tests),
        ]
        for attempt in tries:
            trial = attempt(checkout)
            if trial.is_caught:
                break
    return trial


@contextmanager
def mutated_copy(mutant: Mutant) -> Iterator[Path]:
    """A copy of the checkout with the mutant, gone when the block ends."""
    with TemporaryDirectory(prefix="tideline-mutant-") as folder:
        checkout = Path(folder) / "checkout"
        shutil.copytree(CHECKOUT, checkout, ignore=LEFT_OUT)
        apply_mutant(mutant, checkout)
        yield checkout


def run_trial(name: str, number: str, seed: int, checkout: Path) -> Trial:
    """Runs one experiment in this checkout."""
    words = [sys.executable, "-m", "lab.faults.mutants.trial", number, str(seed)]
    try:
        done = subprocess.run(
            words, cwd=checkout, capture_output=True, text=True, timeout=MOST_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Trial(name, number, broken=f"no end after {MOST_S} s")
    return read_trial(name, number, done.stdout, done.stderr)


def run_test(name: str, test: str, checkout: Path) -> Trial:
    """Runs one test in this checkout."""
    words = [sys.executable, "-m", "pytest", test, "-n", "0", "-q"]
    done = subprocess.run(
        words, cwd=checkout, capture_output=True, text=True, timeout=MOST_S, check=False
    )
    number = test.rpartition("::")[2]
    if done.returncode > _TESTS_FAILED:
        return Trial(name, number, broken=(done.stdout + done.stderr)[-300:])
    findings = [("the test fails", "")] if done.returncode == _TESTS_FAILED else []
    return Trial(name, number, findings)


def read_trial(name: str, number: str, output: str, errors: str) -> Trial:
    """The trial of an output: its last line has the findings."""
    try:
        told = json.loads(output.splitlines()[-1])
        findings = [(what, detail) for what, detail in told["found"]]
        return Trial(name, number, findings, "" if findings else told["broken"])
    except (IndexError, ValueError, TypeError):
        return Trial(name, number, broken=(output + errors)[-300:])
