"""The suites of JavaScript clients: scripts of ours that use the packages of the npm registry."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from lab.conformance.instance import ClientTarget
from lab.conformance.own_programs import require_program, run_program
from lab.conformance.sources import FOLDER
from lab.conformance.types import ClientOutcome
from lab.runner.child import CHECKOUT

_SCRIPTS = CHECKOUT / "lab/conformance/node"
_INSTALLED = FOLDER / "node"
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
        return run_program(self.name, ["node", f"{self.name}.mjs"], _INSTALLED, target)


MASTO, MEGALODON = NodeSuite("masto"), NodeSuite("megalodon")


def _install() -> None:
    """Installs the locked packages, with their hashes, and copies our scripts next to them."""
    require_program("node", OLDEST_NODE, f"Node.js {OLDEST_NODE} or newer")
    require_program("npm", 1, "npm")
    for path in _SCRIPTS.iterdir():
        _INSTALLED.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, _INSTALLED)
    if _stamp().exists() and _stamp().read_text() == _lock():
        return
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, cwd=_INSTALLED, check=True)
    _stamp().write_text(_lock())


def _stamp() -> Path:
    return _INSTALLED / "installed"


def _lock() -> str:
    return (_SCRIPTS / "package-lock.json").read_text()
