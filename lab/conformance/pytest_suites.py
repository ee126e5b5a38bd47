"""The suites of Python clients: pytest, run in the unpacked sources in their own environment."""

import os
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.conformance.instance import ClientTarget
from lab.conformance.sources import FOLDER, PYTHON, locked_version, require_python, unpack
from lab.conformance.types import ClientOutcome
from lab.runner.child import CHECKOUT

_PLUGINS = CHECKOUT / "lab/conformance/plugins"
_LONGEST_S = 900
# Streams that never come would hang. Mastodon.py's tests sleep up to 40 s.
_TEST_S = 60


class PytestSuite(NamedTuple):
    """`package`: its name in the lock. `tests`: the folder or files, relative to the source."""

    name: str
    package: str
    tests: str
    options: Sequence[str] = ()

    @property
    def client(self) -> str:
        return locked_version(self.package).replace("==", " ")

    def run(self, target: ClientTarget) -> list[ClientOutcome]:
        """Raises ClientsMissing, CalledProcessError, TimeoutExpired."""
        require_python()
        root = unpack(self.package, target)
        report = FOLDER / f"{self.name}.xml"
        report.unlink(missing_ok=True)
        subprocess.run(
            [str(PYTHON), "-m", "pytest", self.tests, *_OPTIONS, *self.options, *_report(report)],
            cwd=root,
            env=_environment(target),
            timeout=_LONGEST_S,
            stdout=(FOLDER / f"{self.name}.log").open("w"),
            stderr=subprocess.STDOUT,
            check=False,  # 1: a test failed
        )
        return list(read_report(report))


_OPTIONS = (
    "-q", "-p", "no:cacheprovider", "-p", "conformance_live", "-o", "addopts=",
    f"--timeout={_TEST_S}",
)  # fmt: skip

TOOT = PytestSuite("toot", "toot", "tests/integration")
# Its recordings are deleted, so the tests talk to the server.
MASTODON_PY = PytestSuite("mastodon_py", "mastodon-py", "tests", ("--disable-recording",))


def read_report(report: Path) -> Iterator[ClientOutcome]:
    """The tests of a JUnit report, by the name of their file and function."""
    for case in ElementTree.parse(report).iter("testcase"):
        module = case.get("classname", "").rpartition(".")[2]
        problem = next((child for child in case if child.tag != "properties"), None)
        text = "" if problem is None else problem.get("message", "") or problem.tag
        yield ClientOutcome(f"{module}::{case.get('name')}", problem is None, text.strip())


def _report(path: Path) -> list[str]:
    return [f"--junitxml={path}", "-o", "junit_family=xunit2", "-o", "junit_logging=no"]


def _environment(target: ClientTarget) -> Mapping[str, str]:
    """Without our own variables: pytest would load our settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"TOOT_TEST_BASE_URL": target.url, "PYTHONPATH": str(_PLUGINS)}
