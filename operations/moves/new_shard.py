"""A new shard: checked, migrated, listed, told to all processes, and with a recent-posts index.

No process needs a restart: the bucket map gets a new epoch, and a process that connects again reads
the map, and the list of shards with it. Sessions of workers, compensators and commands are ended
when they are idle, and the recent-posts index is filled when none is older than the list: a drain
that did not know the shard would leave a hole. Web servers do not write to the index, and nothing
else is on the shard. They learn of it when they next connect, at the latest by the first move.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from django.conf import settings
from django.db import connections

from infra.changes.compensate import build_periodic_runner
from infra.changes.failpoints import failpoint
from infra.changes.periodic import maintain_partitions
from infra.jobs.types import Batch, Work
from infra.sharding.added_shards import connect_to, setting_of_added
from infra.sharding.bounded.wait_limits import WEB_SESSION
from infra.sharding.buckets import current_map
from infra.sharding.errors import NO_ANSWER, UnmappedBucket
from infra.sharding.identity import find_identity, read_identity
from infra.sharding.map_changes import list_shard, tell_epoch
from infra.sharding.models import DatabaseIdentity
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import error_line
from infra.sharding.schema import (
    find_missing_schema,
    list_missing_migrations,
    migrate_database,
    read_schema,
)
from infra.sharding.shards import read_list, shard_aliases
from infra.sharding.sql import fetch_one
from operations.moves.errors import MoveRefused
from operations.moves.sessions import end_old_sessions, read_clock
from operations.moves.tables import list_moved_tables
from timelines.jobs.recent_index import backfill_recent_posts


def check_new_shard(alias: str) -> bool:
    """Whether the shard is on the list already. Raises: MoveRefused. A few short queries."""
    is_listed = alias in read_list()
    if not is_listed:
        _check_name(alias)
    try:
        connect_to(alias)
        _check_database(alias, is_listed)
    except UnmappedBucket as error:
        raise MoveRefused(str(error)) from error
    except NO_ANSWER as error:
        raise MoveRefused(f"{setting_of_added(alias)}: {error_line(error)}") from error
    return is_listed


def add_shard(alias: str) -> Iterator[Batch]:
    """Does all that is left to do. Safety: idempotent; begin again after any error.

    Raises: MoveRefused; errors of a database that does not answer. Cost: ends each idle session of
    every shard, and reads the newest days' posts of all accounts.
    """
    yield from _lines(*_migrate(alias))
    failpoint("add_shard.migrated")
    epoch = list_shard(alias)
    current_map()
    failpoint("add_shard.listed")
    maintain_partitions(alias, datetime.now(UTC).date())
    build_periodic_runner().run_due([alias])
    for line in _tell(alias, epoch):
        yield Batch(0, details=[line])
    failpoint("add_shard.told")
    yield from backfill_recent_posts(Work([alias]))
    yield from _lines(f"{alias} is ready: moves start --from SHARD --to {alias} --share 1/4")


def _check_name(alias: str) -> None:
    known = shard_aliases()
    if alias in known:
        raise MoveRefused(f"{alias} is in SHARD_DATABASE_URLS")
    if alias != f"shard{len(known)}":
        raise MoveRefused(f"the next shard is shard{len(known)}: there are {len(known)}")


def _check_database(alias: str, is_listed: bool) -> None:
    connection, setting = connections[alias], setting_of_added(alias)
    connection.ensure_connection()
    identity, own = read_identity(connection), find_identity(GLOBAL_ALIAS)
    tables = connection.introspection.table_names()
    if identity is None and tables and DatabaseIdentity._meta.db_table not in tables:
        raise MoveRefused(f"{setting} leads to a database that is in use: it has {tables[0]}")
    if identity is None:
        return
    if own is None or identity.installation != own.installation:
        raise MoveRefused(f"{setting} leads to {identity.alias} of another installation")
    if identity.alias != alias:
        raise MoveRefused(f"{setting} leads to the database {identity.alias}")
    if not is_listed and (used := _find_used_table(alias, tables)):
        raise MoveRefused(f"{setting} leads to a database that is in use: {used} has rows")


def _find_used_table(alias: str, present: Collection[str]) -> str | None:
    """The first table with rows of accounts."""
    for name in (table.name for table in list_moved_tables() if table.name in present):
        if fetch_one(alias, f"SELECT 1 FROM {name} LIMIT 1"):  # noqa: S608 - names of our tables
            return name
    return None


def _migrate(alias: str) -> list[str]:
    """What was done. Raises: MoveRefused if the schema is not that of the other shards."""
    lines: list[str] = []
    migrate_database(alias, lines.append)
    schema, like = read_schema(alias), read_schema(settings.SHARD_ALIASES[0])
    faults = list_missing_migrations(alias) + find_missing_schema(alias, schema)
    faults += [f"lacks {line}" for line in sorted(like - schema)]
    faults += [f"has {line}, unlike the other shards" for line in sorted(schema - like)]
    if faults:
        raise MoveRefused("\n".join(f"{alias} {fault}" for fault in faults))
    # The next one has the guards of every connection to a database that is known.
    connections[alias].close()
    return lines


def _tell(alias: str, epoch: int) -> Iterator[str]:
    """Returns when no session of who delivers is older than the list, so that it was read."""
    others = [shard for shard in shard_aliases() if shard != alias]
    for shard in (*others, alias):
        tell_epoch(shard, epoch)
    for shard in others:
        yield from end_old_sessions(shard, read_clock(shard), spared=WEB_SESSION)
    yield f"no worker has a session that is older than the list: all know {alias}"


def _lines(*lines: str) -> Iterator[Batch]:
    for line in lines:
        yield Batch(0, details=[line])
