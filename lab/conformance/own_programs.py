"""Programs of ours that call a client's methods, and print one JSON object for each check."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab.conformance.instance import ClientTarget
from lab.conformance.sources import FOLDER, ClientsMissing
from lab.conformance.types import ClientOutcome
from lab.services.working_programs import find_programs, major_version

_LONGEST_S = 300
# What a program and the tools that build it need; nothing else of the environment changes a run.
_KEPT = ("PATH", "HOME", "LANG", "GOPROXY", "GOFLAGS", "CARGO_HOME", "RUSTUP_HOME")


def run_program(
    name: str, command: Sequence[str | Path], folder: Path, target: ClientTarget
) -> list[ClientOutcome]:
    """What it prints; its log is kept. Raises: CalledProcessError, TimeoutExpired."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.log").open("w") as log:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**environment(), "BASE_URL": target.url, **target.credentials},
            timeout=_LONGEST_S,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            check=True,  # a check that fails is a line of the output
        )
    return list(read_lines(done.stdout))


def read_lines(text: str) -> Iterator[ClientOutcome]:
    """One JSON object a line: name, passed, text."""
    for line in text.splitlines():
        yield ClientOutcome(**json.loads(line))


def environment() -> Mapping[str, str]:
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def require_program(name: str, oldest: int, what: str, ask: str = "--version") -> None:
    """Raises ClientsMissing, with `what` to install. `ask`: the option that prints its version."""
    path = os.environ.get("PATH", "")
    first = next(find_programs([name], path), None)
    if first is None or major_version(first, r"(?:^|v|go|cargo )(\d+)\.", ask=ask) < oldest:
        raise ClientsMissing(f"There is no {name} on this machine that runs: install {what}")
