"""Server programs that are installed on this machine and run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.services.server_user import ServerUser, can_reach
from lab.services.spawn import server_environment
from lab.services.working_programs import find_programs, major_version

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
# "postgres (PostgreSQL) 15.8 (Debian …)", "Redis server v=7.0.15 …", "Valkey server v=9.1.2 …"
_VERSION = r"(?:\(PostgreSQL\) |(?:Redis|Valkey) server v=)(\d+)"


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


def list_machine_postgres(search: Search, user: ServerUser) -> list[Binary]:
    """PostgreSQL servers that `user` can run and that are new enough; newest first.

    Each has REQUIRED_PROGRAMS of its version, which run too.
    """
    by_target: dict[Path, Binary] = {}
    for program in _postgres_programs(search):
        if program.resolve() not in by_target and (major := postgres_version(program, user)):
            by_target[program.resolve()] = Binary(program, major)
    return sorted(by_target.values(), key=lambda binary: binary.major, reverse=True)


def iter_machine_redis(search: Search, user: ServerUser) -> Iterator[Binary]:
    """Redis servers on PATH that `user` can run and that are new enough, then Valkey servers.

    Safety: a server keeps the name under which it was found. The `redis-server` of Debian is a
    link to a program with several uses, which decides by the name it is started as.
    """
    for program in find_programs(_REDIS_NAMES, search.path):
        if major := redis_version(program, user):
            yield Binary(program, major)


def postgres_version(program: Path, user: ServerUser) -> int:
    """The major version of this PostgreSQL; 0 when it cannot be used: see the lists above."""
    major = server_version(program, user)
    of_others = {server_version(program.with_name(name), user) for name in REQUIRED_PROGRAMS}
    return major if major >= OLDEST_POSTGRES and of_others == {major} else 0


def redis_version(program: Path, user: ServerUser) -> int:
    """The major version of this Redis or Valkey; 0 when it cannot be used."""
    major = server_version(program, user)
    return major if major >= OLDEST_REDIS else 0


def server_version(program: Path, user: ServerUser | None = None) -> int:
    """The major version that `user` gets from a program of PostgreSQL, Redis or Valkey; else 0."""
    return major_version(program, _VERSION, user=user, env=server_environment())


def _postgres_programs(search: Search) -> Iterator[Path]:
    """A link may lack the other programs next to it, so its target follows it."""
    for pattern in search.postgres_folders:
        yield from Path("/").glob(f"{pattern.lstrip('/')}/postgres")
    for program in find_programs(["postgres"], search.path):
        yield from (program, program.resolve())
