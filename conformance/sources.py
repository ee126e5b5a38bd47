"""The clients' sources: fetched with the hashes of the lock, and unpacked for one instance."""

import itertools
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from config.runner.child import CHECKOUT
from conformance.instance import ClientTarget

FOLDER = CHECKOUT / ".conformance"
LOCK = CHECKOUT / "requirements/conformance.txt"
PYTHON = CHECKOUT / ".venv-conformance/bin/python"
_SDISTS = FOLDER / "sdists"
# Where Mastodon's own developers run it, and what Mastodon.py's setup calls its credentials.
_ADDRESS = "localhost:3000"
_CREDENTIAL = "__MASTODON_PY_TEST_"


class ClientsMissing(Exception):
    """A program or an environment is missing that this machine needs for a suite."""


def unpack(name: str, target: ClientTarget) -> Path:
    """A new copy of the package's source distribution, whose tests talk to `target`.

    The tests hard-code the address of their server and its credentials: both are replaced. Recorded
    answers of other servers are deleted. Raises ClientsMissing, CalledProcessError.
    """
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(_sdist(locked_version(name))) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    for path in (root / "tests").rglob("*.py"):
        _configure(path, target)
    for recorded in (root / "tests").glob("cassettes*"):
        shutil.rmtree(recorded)
    (root / "tests/cassettes").mkdir(exist_ok=True)  # some tests keep the time there
    return root


def locked_version(name: str) -> str:
    """As pip writes it: `toot==0.52.1`."""
    return _lock_entry(name)[0].split()[0]


def require_python() -> None:
    """Raises ClientsMissing without the environment that `make conformance` installs."""
    if not PYTHON.exists():
        raise ClientsMissing(f"There is no {PYTHON}: `make conformance` installs it")


def _configure(path: Path, target: ClientTarget) -> None:
    text = path.read_text()
    changed = _with_credentials(text.replace(_ADDRESS, target.host), target.credentials)
    if changed != text:
        path.write_text(changed)


def _with_credentials(text: str, credentials: Mapping[str, str]) -> str:
    """The longest name first, because the others begin with it."""
    for name in sorted(credentials, key=len, reverse=True):
        text = text.replace(_CREDENTIAL + name, credentials[name])
    return text


def _lock_entry(name: str) -> list[str]:
    """The lines of the lock about this package: its version and its hashes."""
    lines = LOCK.read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"{name}=="))
    hashes = itertools.takewhile(lambda line: "--hash" in line, lines[start + 1 :])
    return [lines[start], *hashes]


def _sdist(locked: str) -> Path:
    """The archive of this version, fetched the first time."""
    path = _SDISTS / f"{locked.replace('==', '-', 1).replace('mastodon-py', 'mastodon_py')}.tar.gz"
    if not path.exists():
        _download(locked.partition("==")[0])
    return path


def _download(name: str) -> None:
    """pip refuses an archive that has none of the hashes of the lock."""
    _SDISTS.mkdir(parents=True, exist_ok=True)
    requirement = _SDISTS / f"{name}.txt"
    requirement.write_text("\n".join(_lock_entry(name)) + "\n")
    pip = [str(PYTHON), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    into = ["--require-hashes", "--dest", str(_SDISTS), "--requirement", str(requirement)]
    subprocess.run([*pip, *into], check=True, stdout=sys.stderr)
