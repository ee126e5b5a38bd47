"""Programs of Debian and Ubuntu: the machine's own, or of packages that apt downloads and checks.

Nothing is installed: packages are unpacked in a folder of the checkout.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from lab.runner.child import CHECKOUT
from lab.services.locks import locked

CACHE = CHECKOUT / ".distribution"
PLACES = {
    "nginx": "usr/sbin/nginx",
    "redis-server": "usr/bin/redis-server",
    "postgresql": "usr/lib/postgresql/*/bin/postgres",
}
# As long as another process may take to download them.
LONGEST_S = 300
# What apt would install, and not what it would upgrade: "Inst nginx (1.22.1-9 Debian:12 [amd64])".
MISSING = re.compile(r"^Inst (\S+) \(", re.MULTILINE)


def find_program(package: str) -> Path | None:
    """The program of a package. None: this machine has none, and apt does not bring one."""
    return _program_in(Path("/"), package) or unpacked_program(package)


def unpacked_program(package: str) -> Path | None:
    """The program of a package that apt brings, also when the machine has one."""
    return _program_in(_unpacked(package), package)


def library_path(*packages: str) -> str:
    """LD_LIBRARY_PATH for programs of these packages, with that of this process.

    Only these: another package may have brought a C library that is not this machine's.
    """
    patterns = (f"{package}/usr/lib/*-linux-gnu" for package in packages)
    folders = [str(folder) for pattern in patterns for folder in CACHE.glob(pattern)]
    return ":".join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), *folders]))


def _program_in(root: Path, package: str) -> Path | None:
    return max(root.glob(PLACES[package]), default=None)


def _unpacked(package: str) -> Path:
    """A folder that has the package and what it needs, if apt brings them."""
    folder = CACHE / package
    if shutil.which("apt-get") and shutil.which("dpkg"):
        CACHE.mkdir(exist_ok=True)
        with locked(CACHE / "lock", LONGEST_S):
            if not folder.exists():
                _unpack(package, folder)
    return folder


def _unpack(package: str, target: Path) -> None:
    """The folder gets its name when it is complete. apt checks the signatures."""
    words = ["install", "--simulate", "--no-install-recommends", "--yes", package]
    missing = MISSING.findall(_apt(words, CACHE))
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        _apt(["download", *missing], folder)
        archives = [*Path(folder).glob("*.deb")]
        for archive in archives:
            subprocess.run(["dpkg", "-x", archive, f"{folder}/unpacked"], check=True)
        if missing and len(archives) == len(missing):
            Path(folder, "unpacked").rename(target)


def _apt(words: list[str], folder: Path | str) -> str:
    """What apt-get printed, in the language of the pattern above."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(["apt-get", *words], cwd=folder, env=environment, capture_output=True)
    return done.stdout.decode()
