"""The suites of a Go and a Rust client: programs of ours, built with the client's package.

Their locks have the hashes of all packages; nothing that a lock does not name is fetched.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lab.conformance.instance import ClientTarget
from lab.conformance.own_programs import environment, require_program, run_program
from lab.conformance.sources import FOLDER
from lab.conformance.types import ClientOutcome
from lab.runner.child import CHECKOUT

_LONGEST_BUILD_S = 900


class CompiledSuite(NamedTuple):
    """`sources`: of the program. `locked`: the pattern of the client's version in `lock`.

    `build`: the command, which is given the path of the program; `tool`: its program, with the
    option that prints its version, and what to install without it.
    """

    name: str
    sources: Path
    lock: str
    locked: str
    build: Sequence[str]
    tool: tuple[str, int, str, str]

    @property
    def client(self) -> str:
        """From the lock: `go-mastodon 0.0.13`."""
        match = re.search(self.locked, (self.sources / self.lock).read_text())
        assert match, self.lock
        return f"{self.name.replace('_', '-')} {match[1]}"

    def run(self, target: ClientTarget) -> list[ClientOutcome]:
        """Raises: ClientsMissing, CalledProcessError, TimeoutExpired."""
        name, oldest, ask, what = self.tool
        require_program(name, oldest, what, ask)
        folder = FOLDER / self.name
        command = [word.format(folder=folder) for word in self.build]
        subprocess.run(
            command, cwd=self.sources, env=environment(), timeout=_LONGEST_BUILD_S, check=True
        )
        return run_program(self.name, [folder / "debug/conformance"], folder, target)


GO_MASTODON = CompiledSuite(
    "go_mastodon",
    CHECKOUT / "lab/conformance/go",
    "go.mod",
    r"go-mastodon v([\d.]+)",
    ("go", "build", "-mod=readonly", "-o", "{folder}/debug/conformance", "."),
    ("go", 1, "version", "Go 1.25 or newer"),
)
MEGALODON_RS = CompiledSuite(
    "megalodon_rs",
    CHECKOUT / "lab/conformance/rust",
    "Cargo.lock",
    r'name = "megalodon"\nversion = "([\d.]+)"',
    ("cargo", "build", "--quiet", "--locked", "--target-dir", "{folder}"),
    ("cargo", 1, "--version", "Rust 1.85 or newer"),
)
