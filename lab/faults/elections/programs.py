"""The programs that elect a primary: etcd of this machine, and Patroni of the lock."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which
from typing import NamedTuple

from lab.runner.child import CHECKOUT
from lab.services.machine import Binary
from lab.services.server_user import ServerUser, can_reach
from lab.services.wheels import reachable_copy

VENV = CHECKOUT / ".venv-patroni"
_VERSION = "{}.{}".format(*sys.version_info[:2])


class ElectionImpossible(Exception):
    """This machine cannot elect a primary; the text says why."""


class ElectionPrograms(NamedTuple):
    """`packages`: the folder with Patroni. The user that runs PostgreSQL can reach all of them."""

    etcd: Path
    python: Path
    packages: Path


def find_programs(user: ServerUser, copies: Path) -> ElectionPrograms:
    """Installs Patroni, and copies it below `copies` if `user` cannot reach it.

    Raises ElectionImpossible.
    """
    etcd = which("etcd")
    if etcd is None:
        raise ElectionImpossible("there is no etcd; on Debian: apt install etcd-server")
    python = _reachable_python(user)
    subprocess.run([sys.executable, "deploy/install.py", "patroni"], cwd=CHECKOUT, check=True)
    packages = VENV / "lib" / f"python{_VERSION}" / "site-packages"
    patroni = reachable_copy(Binary(packages / "patroni", 0, [packages]), user, copies)
    return ElectionPrograms(Path(etcd), python, patroni.program.parent)


def _reachable_python(user: ServerUser) -> Path:
    """PostgreSQL refuses root, so Patroni runs as another user. A Python in a closed home folder
    would let it start and then wait for ever without a word: it starts servers through a second
    Python. The version must be ours, because packages are made for it.
    """
    name = f"python{_VERSION}"
    ours = Path(sys.base_prefix) / "bin" / name
    for folder in (ours.parent, *map(Path, os.get_exec_path()), Path("/usr/bin")):
        if (folder / name).exists() and can_reach(user, [folder, (folder / name).resolve()]):
            return folder / name
    raise ElectionImpossible(f"{user.name}, who runs PostgreSQL, can reach no {name}")
