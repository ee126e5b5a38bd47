"""`manage.py migrate_shards`: brings every database to the schema of this code."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from infra.sharding.errors import NO_ANSWER, WrongDatabase
from infra.sharding.identity import create_identity, find_identity, setting_of
from infra.sharding.new_database import create_schema, is_empty
from infra.sharding.placement import GLOBAL_ALIAS, all_aliases
from infra.sharding.probe import error_line
from infra.sharding.readiness import refuse_wrong_databases


class Command(BaseCommand):
    help = (
        "Migrates the default database, then every shard; skips those that are current. Changes"
        " nothing if a URL leads to a wrong database. A shard that does not answer is left out; the"
        " exit code is then 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, shard: str | None, verbosity: int, **options: Any) -> None:
        refuse_wrong_databases()
        aliases = [shard] if shard else all_aliases()
        answering = [alias for alias in aliases if self._is_answering(alias)]
        if GLOBAL_ALIAS in aliases and GLOBAL_ALIAS not in answering:
            sys.exit(1)  # it has the installation that the identities of the shards name
        for alias in answering:
            self._create(alias)
            self._migrate(alias, verbosity)
            _identify(alias)
        if answering != aliases:
            sys.exit(1)

    def _is_answering(self, alias: str) -> bool:
        """False, with a line: it does not answer, so it is left out. Raises: WrongDatabase."""
        try:
            _refuse_foreign_tables(alias)
        except WrongDatabase:
            raise
        except NO_ANSWER as error:
            how = f"When it answers, run migrate_shards --shard {alias}."
            self.stderr.write(f"{alias} was left out: {error_line(error)}. {how}")
            return False
        return True

    def _create(self, alias: str) -> None:
        if is_empty(alias):
            create_schema(alias)
            self.stdout.write(f"{alias}: created")

    def _migrate(self, alias: str, verbosity: int) -> None:
        plan = _plan(alias)
        if not plan:
            self.stdout.write(f"{alias}: current")
            return
        self.stdout.write(f"{alias}: {len(plan)} migrations to apply")
        quieter = max(0, verbosity - 1)
        call_command("migrate", database=alias, verbosity=quieter, stdout=self.stdout)


def _plan(alias: str) -> list[Any]:
    """Migrations to apply."""
    executor = MigrationExecutor(connections[alias])
    return executor.migration_plan(executor.loader.graph.leaf_nodes())


def _refuse_foreign_tables(alias: str) -> None:
    """Raises WrongDatabase if the database has tables, and none of them is Django's record."""
    tables = connections[alias].introspection.table_names()
    if tables and MigrationRecorder.Migration._meta.db_table not in tables:
        raise WrongDatabase(
            f"{setting_of(alias)} leads to a database of another program: it has the table"
            f" {tables[0]}"
        )


def _identify(alias: str) -> None:
    """Creates the identity of a new database. The default database must have the table by then."""
    if find_identity(alias) is None and (alias == GLOBAL_ALIAS or not _plan(GLOBAL_ALIAS)):
        create_identity(alias)
