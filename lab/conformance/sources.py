"""The clients' sources: fetched with the hashes of the lock, and unpacked for one instance."""

import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.conformance.instance import ClientTarget
from lab.runner.child import CHECKOUT

FOLDER = CHECKOUT / ".conformance"
LOCK = CHECKOUT / "uv.lock"
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
    with tarfile.open(_sdist(name)) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    for path in (root / "tests").rglob("*.py"):
        _configure(path, target)
    for recorded in (root / "tests").glob("cassettes*"):
        shutil.rmtree(recorded)
    for kept in ("cassettes", "cassettes_special"):  # some tests keep the time there
        (root / "tests" / kept).mkdir(exist_ok=True)
    return root


def locked_version(name: str) -> str:
    """As pip writes it: `toot==0.52.1`."""
    return f"{name}=={_lock_entry(name)['version']}"


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


def _lock_entry(name: str) -> dict[str, Any]:
    """What the lock says about this package."""
    packages = tomllib.loads(LOCK.read_text())["package"]
    return next(package for package in packages if package["name"] == name)


def _sdist(name: str) -> Path:
    """The archive of the locked version, fetched the first time."""
    path = _SDISTS / _lock_entry(name)["sdist"]["url"].rpartition("/")[2]
    if not path.exists():
        _download(name)
    return path


def _download(name: str) -> None:
    """pip refuses an archive that does not have the hash of the lock."""
    _SDISTS.mkdir(parents=True, exist_ok=True)
    requirement = _SDISTS / f"{name}.txt"
    requirement.write_text(f"{locked_version(name)} --hash={_lock_entry(name)['sdist']['hash']}\n")
    pip = [str(PYTHON), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    into = ["--require-hashes", "--dest", str(_SDISTS), "--requirement", str(requirement)]
    subprocess.run([*pip, *into], check=True, stdout=sys.stderr)
