"""`manage.py migrate_shards`: brings every database to the schema of this code."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from infra.sharding.errors import NO_ANSWER, WrongDatabase
from infra.sharding.identity import setting_of
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import error_line
from infra.sharding.readiness import refuse_wrong_databases
from infra.sharding.schema import migrate_database
from infra.sharding.shards import all_aliases
from infra.verbs import DocumentedCommand


class Command(DocumentedCommand):
    """Migrates the default database, then every shard; skips those that are current. Changes
    nothing if a URL leads to a wrong database. A shard that does not answer is left out; the exit
    code is then 1.

    **When**: before the first start and with every new release. `manage.py migrate` alone migrates
    one database. It also writes a new database's identity: one row with its alias and the id of the
    installation, which the default database chose. It changes nothing and exits with 1 if a URL
    leads to the wrong database, or if a shard is missing. **Costs**: the cost of the migrations. An
    empty database gets its first schema in one transaction, in less than a second. **Stopping it**:
    run it again; each migration is one transaction.

    ```
    $ manage.py migrate_shards
    default: current
    shard0: current
    …
    ```
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, shard: str | None, verbosity: int, **options: Any) -> None:
        refuse_wrong_databases()
        aliases = [shard] if shard else all_aliases()
        answering = [alias for alias in aliases if self._is_answering(alias)]
        if GLOBAL_ALIAS in aliases and GLOBAL_ALIAS not in answering:
            sys.exit(1)  # it has the installation that the identities of the shards name
        for alias in answering:
            migrate_database(alias, self.stdout.write, max(0, verbosity - 1))
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


def _refuse_foreign_tables(alias: str) -> None:
    """Raises WrongDatabase if the database has tables, and none of them is Django's record."""
    tables = connections[alias].introspection.table_names()
    if tables and MigrationRecorder.Migration._meta.db_table not in tables:
        raise WrongDatabase(
            f"{setting_of(alias)} leads to a database of another program: it has the table"
            f" {tables[0]}"
        )
