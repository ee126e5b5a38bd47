"""The suites of JavaScript clients: scripts of ours that use the packages of the npm registry."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from lab.conformance.instance import ClientTarget
from lab.conformance.sources import FOLDER, ClientsMissing
from lab.conformance.types import ClientOutcome
from lab.runner.child import CHECKOUT
from lab.services.working_programs import find_programs, major_version

_SCRIPTS = CHECKOUT / "lab/conformance/node"
_INSTALLED = FOLDER / "node"
_LONGEST_S = 300
OLDEST_NODE = 20


class NodeSuite(NamedTuple):
    """`name`: of the package, and of the script."""

    name: str

    @property
    def client(self) -> str:
        """From the lock: `masto 7.0.0`."""
        packages = json.loads((_SCRIPTS / "package-lock.json").read_text())["packages"]
        return f"{self.name} {packages[f'node_modules/{self.name}']['version']}"

    def run(self, target: ClientTarget) -> list[ClientOutcome]:
        """Raises ClientsMissing, CalledProcessError, TimeoutExpired."""
        _install()
        with (FOLDER / f"{self.name}.log").open("w") as log:
            done = subprocess.run(
                ["node", f"{self.name}.mjs"],
                cwd=_INSTALLED,
                env=_environment(target),
                timeout=_LONGEST_S,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                check=True,  # a test that fails is a line of the output
            )
        return list(read_lines(done.stdout))


MASTO, MEGALODON = NodeSuite("masto"), NodeSuite("megalodon")


def read_lines(text: str) -> Iterator[ClientOutcome]:
    """One JSON object a line: name, passed, text."""
    for line in text.splitlines():
        yield ClientOutcome(**json.loads(line))


def _install() -> None:
    """Installs the locked packages, with their hashes, and copies our scripts next to them."""
    _refuse_old_node()
    for path in _SCRIPTS.iterdir():
        _INSTALLED.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, _INSTALLED)
    if _stamp().exists() and _stamp().read_text() == _lock():
        return
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, cwd=_INSTALLED, check=True)
    _stamp().write_text(_lock())


def _refuse_old_node() -> None:
    """Raises ClientsMissing."""
    path = os.environ.get("PATH", "")
    for name, oldest in (("node", OLDEST_NODE), ("npm", 1)):
        first = next(find_programs([name], path), None)
        if first is None or major_version(first, r"^v?(\d+)\.") < oldest:
            raise ClientsMissing(
                f"There is no {name} on this machine that runs: "
                f"install Node.js {OLDEST_NODE} or newer"
            )


def _stamp() -> Path:
    return _INSTALLED / "installed"


def _lock() -> str:
    return (_SCRIPTS / "package-lock.json").read_text()


def _environment(target: ClientTarget) -> Mapping[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"BASE_URL": target.url, **target.credentials}
