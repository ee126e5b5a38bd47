"""`manage.py migrate_shards`: brings the default database and every shard to today's schema."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from infra.sharding.placement import all_aliases


class Command(BaseCommand):
    help = "Migrates the default database, then every shard; skips those that are current."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, shard: str | None, verbosity: int, **options: Any) -> None:
        for alias in [shard] if shard else all_aliases():
            self._migrate(alias, verbosity)

    def _migrate(self, alias: str, verbosity: int) -> None:
        executor = MigrationExecutor(connections[alias])
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if not plan:
            self.stdout.write(f"{alias}: current")
            return
        self.stdout.write(f"{alias}: {len(plan)} migrations to apply")
        quieter = max(0, verbosity - 1)
        call_command("migrate", database=alias, verbosity=quieter, stdout=self.stdout)
