"""Brings one database to the schema of this code, and writes its identity."""

from collections.abc import Callable
from typing import Any

from django.core.management import call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from infra.sharding.identity import create_identity, find_identity
from infra.sharding.new_database import create_schema, is_empty
from infra.sharding.placement import GLOBAL_ALIAS


def migrate_database(alias: str, say: Callable[[str], object], verbosity: int = 0) -> None:
    """Creates the schema of an empty database, else applies what it lacks. Safety: idempotent.

    The caller has checked that it is the right database. `say` gets one line or two.
    """
    if is_empty(alias):
        create_schema(alias)
        say(f"{alias}: created")
    if plan := _plan(alias):
        say(f"{alias}: {len(plan)} migrations to apply")
        call_command("migrate", database=alias, verbosity=verbosity)
    else:
        say(f"{alias}: current")
    _identify(alias)


def _plan(alias: str) -> list[Any]:
    """Migrations to apply."""
    executor = MigrationExecutor(connections[alias])
    return executor.migration_plan(executor.loader.graph.leaf_nodes())


def _identify(alias: str) -> None:
    """Creates the identity of a new database. The default database must have the table by then."""
    if find_identity(alias) is None and (alias == GLOBAL_ALIAS or not _plan(GLOBAL_ALIAS)):
        create_identity(alias)
