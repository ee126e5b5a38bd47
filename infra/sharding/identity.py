"""The row that says which database this is: migrate_shards writes it, new connections check it.

A swapped, shifted or foreign URL would mix the rows of two databases. So a connection to a database
that is another one than its setting means is closed before its first statement.
"""

from typing import Any, NamedTuple
from uuid import UUID, uuid4

import psycopg
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.moving import AccountMoving, may_be_old
from infra.sharding.added_shards import setting_of_added
from infra.sharding.buckets import current_map
from infra.sharding.errors import WrongDatabase
from infra.sharding.map_copy import MapCopy
from infra.sharding.models import DatabaseIdentity
from infra.sharding.placement import GLOBAL_ALIAS, is_known, shard_behind
from infra.sharding.sql import execute

INSERT = """
INSERT INTO sharding_databaseidentity (alias, installation, created_at) VALUES (%s, %s, now())
ON CONFLICT (id) DO NOTHING
"""
READ = "SELECT alias, installation, map_epoch FROM sharding_databaseidentity"
HAS_TABLE = "SELECT to_regclass('sharding_databaseidentity') IS NOT NULL"
# Databases in which this process has seen the table. To ask for a table that is missing is an error
# in the log of the server, and processes that wait for migrate_shards ask again and again.
_migrated: set[str] = set()
# Of this process: the id that the default database has. The other databases must have the same.
_installations: dict[str, UUID] = {}


class Identity(NamedTuple):
    """What a database says of itself. `map_epoch`: of the bucket map, when a move last told it."""

    alias: str
    installation: UUID
    map_epoch: int


def find_identity(alias: str) -> DatabaseIdentity | None:
    """The identity of this database; None before migrate_shards. One query."""
    return DatabaseIdentity.objects.using(alias).first()


def create_identity(alias: str) -> None:
    """Writes the identity of a database that has none. Safety: idempotent. At most two queries.

    The default database chooses the installation's id. Shards copy it, so they come later.
    """
    default = find_identity(GLOBAL_ALIAS)
    if alias == GLOBAL_ALIAS:
        execute(alias, INSERT, (alias, uuid4()))
    elif default is not None:
        execute(alias, INSERT, (alias, default.installation))


def refuse_wrong_database(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receiver of connection_created. A database without an identity passes: it may be new.

    Raises: WrongDatabase, and AccountMoving if the caller may have chosen this shard by an old
    bucket map; the connection is closed then. Cost: one round trip for each connection.
    """
    shard = shard_behind(connection.alias) or connection.alias
    if not is_known(shard):
        return
    try:
        identity = read_identity(connection)
        if identity is not None:
            _compare(connection, shard, identity)
            _note_epoch(shard, identity)
    except BaseException:
        connection.close()
        raise


def read_identity(connection: BaseDatabaseWrapper) -> Identity | None:
    """None before migrate_shards. No wrapper sees the statement of the driver; two at first."""
    if connection.alias not in _migrated:
        if connection.connection.execute(HAS_TABLE).fetchone() == (False,):
            return None
        _migrated.add(connection.alias)
    try:
        row = connection.connection.execute(READ).fetchone()
    except psycopg.errors.UndefinedTable:
        return None
    return Identity(*row) if row else None


def setting_of(alias: str) -> str:
    """The setting that has the URL of this database, `SHARD_DATABASE_URLS[2]`, or of this
    replica, `SHARD_REPLICA_URLS[2][0]`."""
    if alias == GLOBAL_ALIAS:
        return "DATABASE_URL"
    shard = shard_behind(alias)
    if shard is None and alias not in settings.SHARD_ALIASES:
        return setting_of_added(alias)
    if shard is None:
        return f"SHARD_DATABASE_URLS[{settings.SHARD_ALIASES.index(alias)}]"
    number = settings.REPLICA_ALIASES[shard].index(alias)
    return f"SHARD_REPLICA_URLS[{settings.SHARD_ALIASES.index(shard)}][{number}]"


def _note_epoch(shard: str, identity: Identity) -> None:
    """A move ends the idle sessions of its source, so that processes with an old map come here."""
    if may_be_old(identity.map_epoch):
        MapCopy.doubt()
        if shard != GLOBAL_ALIAS:
            current_map()  # the next connection of this process must not fail for it, too
            raise AccountMoving(f"{shard} knows a later bucket map: {identity.map_epoch}")


def _compare(connection: BaseDatabaseWrapper, shard: str, identity: Identity) -> None:
    """Raises WrongDatabase. The default database decides which installation is the right one."""
    expected = _installations.get(GLOBAL_ALIAS, identity.installation)
    if identity.alias != shard:
        what = f"the database {identity.alias}"
    elif identity.installation != expected:
        what = f"{shard} of the installation {identity.installation}, not of {expected}"
    else:
        if shard == GLOBAL_ALIAS:
            _installations[GLOBAL_ALIAS] = identity.installation
        return
    setting = setting_of(connection.alias)
    raise WrongDatabase(f"{setting} must be the URL of {shard}; it leads to {what}")
