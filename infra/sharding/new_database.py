"""The first schema of an empty database, in one transaction.

Django applies migrations one by one and builds all models again after each, which takes seconds.
An empty database gets the tables of the last of these states at once, then what our migrations do
in SQL and Python. tests/integration/sharding/test_new_database.py compares both ways.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.management.sql import emit_post_migrate_signal
from django.db import connections, router, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration, RunPython, RunSQL
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

# Migrations of an app of Tideline that come after these are applied one by one.
FIRST = ("0002_functions", "0001_initial")
Key = tuple[str, str]


class _FirstSchema(NamedTuple):
    migrations: list[Migration]
    state: ProjectState


def is_empty(alias: str) -> bool:
    """Whether the database has no table. One query."""
    return not connections[alias].introspection.table_names()


def create_schema(alias: str) -> None:
    """Creates the tables and functions, and records the migrations that make the same.

    Safety: one transaction; if it is killed, the database is empty and the next call begins again.
    """
    first = _first_schema()
    with transaction.atomic(alias):
        with connections[alias].schema_editor() as editor:
            _create_tables(editor, first.state)
            _run_operations(editor, first)
        _record(alias, first.migrations)
        emit_post_migrate_signal(verbosity=0, interactive=False, db=alias)


@cache
def _first_schema() -> _FirstSchema:
    loader = MigrationLoader(None)
    wanted = [_last_of_first(leaf, loader.graph.nodes) for leaf in loader.graph.leaf_nodes()]
    plan = {key: None for migration in wanted for key in loader.graph.forwards_plan(migration)}
    return _FirstSchema([loader.graph.nodes[key] for key in plan], loader.project_state(wanted))


def _last_of_first(leaf: Key, known: dict[Key, Migration]) -> Key:
    """The migration of the leaf's app up to which an empty database is created. Packages: all."""
    if not _is_of_tideline(leaf[0]):
        return leaf
    return next((leaf[0], name) for name in FIRST if (leaf[0], name) in known)


def _is_of_tideline(app_label: str) -> bool:
    return apps.get_app_config(app_label).name in settings.OWN_APPS


def _create_tables(editor: BaseDatabaseSchemaEditor, state: ProjectState) -> None:
    for model in state.apps.get_models():
        is_here = router.allow_migrate_model(editor.connection.alias, model)
        if is_here and model._meta.can_migrate(editor.connection):
            editor.create_model(model)


def _run_operations(editor: BaseDatabaseSchemaEditor, first: _FirstSchema) -> None:
    """What migrations of Tideline do besides tables. Those of packages change rows only."""
    for migration in first.migrations:
        if _is_of_tideline(migration.app_label):
            for operation in _besides_tables(migration.operations):
                operation.database_forwards(migration.app_label, editor, first.state, first.state)


def _besides_tables(operations: Iterable[Any]) -> Iterable[Any]:
    return (operation for operation in operations if isinstance(operation, (RunSQL, RunPython)))


def _record(alias: str, migrations: list[Migration]) -> None:
    recorder = MigrationRecorder(connections[alias])
    recorder.ensure_schema()
    recorder.migration_qs.bulk_create(
        recorder.Migration(app=app_label, name=name)
        for migration in migrations
        # As `migrate` does: a squashed migration comes with those that it replaces.
        for app_label, name in [(migration.app_label, migration.name), *migration.replaces]
    )
