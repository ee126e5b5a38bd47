"""The code of another version of Tideline, in a folder of its own.

It runs on the packages of this checkout. The harness itself is always of this version: its modules
are found after those of the other version, which lacks them or has older ones.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from config.old_commands import NEW_NAMES
from lab.runner.child import CHECKOUT

VARIABLE = "FAULTS_OLD_VERSION"
# The first commit whose data this version can read (decision 0036).
_DEFAULT = "288662f2"


class VersionNotCloned(RuntimeError):
    """This clone does not have the commit, for example because it is shallow."""


def old_version() -> str:
    """The commit, tag or branch that the experiments call the old version."""
    return os.environ.get(VARIABLE) or _DEFAULT


@contextmanager
def checked_out(ref: str) -> Iterator[Path]:
    """A folder with the code of a commit, during the block. Raises: VersionNotCloned."""
    revision = _git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if revision.returncode:
        raise VersionNotCloned(
            f"this clone has no commit {ref}: fetch it, or name another one in {VARIABLE}"
        )
    with tempfile.TemporaryDirectory(prefix="tideline-version-") as folder:
        archive = Path(folder, "code.tar")
        _git("archive", "--output", str(archive), revision.stdout.strip()).check_returncode()
        subprocess.run(["tar", "-xf", str(archive), "-C", folder], check=True)
        archive.unlink()
        yield Path(folder)


def command_of(checkout: Path, program: Sequence[str]) -> list[str]:
    """Runs a program of Tideline (a module or a script) in this checkout.

    Only this version can be armed: another one may lack what that needs.
    """
    if checkout == CHECKOUT:
        return [sys.executable, "-m", "lab.faults.cluster.with_failpoints", *program]
    if program[0].endswith(".py"):
        return [sys.executable, *_as_it_says(checkout, program)]
    return [sys.executable, "-m", *program]


def _as_it_says(checkout: Path, program: Sequence[str]) -> Sequence[str]:
    """A version without commands of two words has one word for them."""
    names = {new: old for old, new in NEW_NAMES.items()}
    old = names.get(" ".join(program[1:3]))
    if old is None or (checkout / "infra/verbs.py").exists():
        return program
    return [program[0], old, *program[3:]]


def environment_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process in any checkout: it finds the harness too."""
    return {**environment, "PYTHONPATH": str(CHECKOUT)}


def _git(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", *words],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
