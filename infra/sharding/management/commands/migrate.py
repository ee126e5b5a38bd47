"""`manage.py migrate`: Django's command, made quick on shards."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from infra.sharding.placement import GLOBAL_ALIAS, shard_behind
from infra.sharding.router import has_tables_on
from infra.verbs import DocumentedCommand


class Command(DocumentedCommand, DjangoMigrate):
    """Migrates one database: Django's own command, made quick on shards.

    **When**: to migrate one database by name (`--database shard0`), or one app. It is Django's own
    command. On a shard it records the migrations of apps that have no table there, instead of
    running them. In all other cases use [`migrate_shards`](#migrate_shards).
    """

    def handle(self, *args: Any, **options: Any) -> None:
        if shard := shard_behind(options["database"]):
            raise CommandError(f"{options['database']} is a replica: migrate {shard}")
        if options["database"] != GLOBAL_ALIAS and not options["app_label"]:
            _migrate_present_apps(options["database"])
        super().handle(*args, **options)


def _migrate_present_apps(alias: str) -> None:
    """Runs the migrations of apps with tables here. Records the others before and after those."""
    executor = MigrationExecutor(connections[alias])
    _record_absent_apps(executor, alias)
    leaves = executor.loader.graph.leaf_nodes()
    executor.loader.build_graph()
    executor.migrate([leaf for leaf in leaves if has_tables_on(leaf[0], alias)])
    _record_absent_apps(executor, alias)


def _record_absent_apps(executor: MigrationExecutor, alias: str) -> None:
    recorder = MigrationRecorder(connections[alias])
    recorder.ensure_schema()
    applied = set(recorder.applied_migrations())
    graph = executor.loader.graph
    for leaf in graph.leaf_nodes():
        for migration in graph.forwards_plan(leaf):
            parents = {parent.key for parent in graph.node_map[migration].parents}
            is_absent = not has_tables_on(migration[0], alias)
            if is_absent and migration not in applied and parents <= applied:
                for key in (migration, *graph.nodes[migration].replaces):
                    recorder.record_applied(*key)
                applied.add(migration)
