"""Migrations expand first and contract later, so old code runs on the new schema.

A change that old code cannot run on is a second step. It has a migration of its own, in a version
after the one whose code stopped using the column or table, below a comment "Second step:".
"""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

LOADER = MigrationLoader(None)
MARK = "# Second step:"
# A constraint is checked by its author: old code may violate a new one.
BREAKING = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
    migrations.AlterUniqueTogether,
)


def is_ours(key: tuple[str, str]) -> bool:
    return apps.get_app_config(key[0]).name in settings.OWN_APPS


OURS = sorted(
    key for key in LOADER.disk_migrations if is_ours(key) and not key[1].startswith("0001_")
)


def faults_of(operation: migrations.operations.base.Operation, app: str, before: ProjectState):
    """Why code of the version before could not run after it; empty: it can."""
    if isinstance(operation, BREAKING):
        yield f"{operation.describe()}: old code asks for it by the old name"
    elif isinstance(operation, migrations.AddField):
        if not is_filled(operation.field):
            yield f"{operation.describe()}: old code inserts rows without it; give it a db_default"
    elif isinstance(operation, (migrations.SeparateDatabaseAndState, migrations.RunSQL)):
        yield from _faults_of_parts(operation, app, before)
    elif isinstance(operation, migrations.AlterField):
        old = before.models[app, operation.model_name_lower].fields[operation.name]
        yield from _alterations(old, operation)


def _faults_of_parts(
    operation: migrations.SeparateDatabaseAndState | migrations.RunSQL,
    app: str,
    before: ProjectState,
):
    """A column that only the state loses stays in the table."""
    for part in getattr(operation, "database_operations", ()):
        yield from faults_of(part, app, before)
    for part in operation.state_operations:
        if isinstance(part, migrations.RemoveField):
            field = before.models[app, part.model_name_lower].fields[part.name]
            if not (is_filled(field) or isinstance(field, models.CompositePrimaryKey)):
                yield f"{part.describe()}: new code inserts rows without it; give it a db_default"


def is_filled(field: models.Field) -> bool:
    return field.null or field.has_db_default() or field.many_to_many


def _alterations(old: models.Field, operation: migrations.AlterField):
    new = operation.field
    kinds = (old.db_type(connection), new.db_type(connection))
    if kinds[0] != kinds[1] and not _is_wider(*kinds):
        yield f"{operation.describe()}: from {kinds[0]} to {kinds[1]}"
    if old.null and not new.null:
        yield f"{operation.describe()}: old code writes NULL"
    if old.has_db_default() and not is_filled(new):
        yield f"{operation.describe()}: old code leaves it to the default that goes"


def _is_wider(old: str, new: str) -> bool:
    """Whether each text that fits into the old column fits into the new one."""
    lengths = [re.fullmatch(r"varchar\((\d+)\)", kind) for kind in (old, new)]
    if lengths[0] and lengths[1]:
        return int(lengths[0][1]) < int(lengths[1][1])
    return bool(lengths[0]) and new == "text"


def faults_in(key: tuple[str, str]) -> list[str]:
    state = LOADER.project_state(key, at_end=False)
    faults = []
    for operation in LOADER.disk_migrations[key].operations:
        faults += faults_of(operation, key[0], state)
        operation.state_forwards(key[0], state)
    return faults


@pytest.mark.parametrize("key", OURS, ids="/".join)
def test_old_code_runs_on_the_new_schema(key: tuple[str, str]):
    source = settings.BASE_DIR / f"{LOADER.disk_migrations[key].__module__.replace('.', '/')}.py"
    if MARK not in source.read_text():
        assert faults_in(key) == []


def test_every_app_starts_with_one_migration():
    """The schema before the first release is one file for each app."""
    first = [key for key in LOADER.disk_migrations if is_ours(key) and key[1].startswith("0001_")]
    apps_of_ours = {key[0] for key in LOADER.disk_migrations if is_ours(key)}
    assert sorted(first) == sorted((app, "0001_initial") for app in apps_of_ours)
    assert {"accounts", "relations", "posts", "timelines", "changes"} <= apps_of_ours


NUMBER = models.IntegerField
BREAK = [
    migrations.RemoveField("post", "hidden_at"),
    migrations.RenameField("post", "hidden_at", "gone_at"),
    migrations.DeleteModel("post"),
    migrations.AddField("post", "new", NUMBER(default=1)),
    migrations.AlterField("post", "hidden_at", models.DateTimeField()),
    migrations.AlterField("post", "hidden_at", models.DateField(null=True)),
    migrations.AlterField("post", "hidden_revision", models.BigIntegerField()),
    migrations.AlterField("publishedkey", "key", models.CharField(max_length=64)),
    migrations.SeparateDatabaseAndState([migrations.RemoveField("post", "hidden_at")]),
    migrations.RunSQL("", state_operations=[migrations.RemoveField("post", "text")]),
]
PASS = [
    migrations.AddField("post", "new", NUMBER(db_default=1)),
    migrations.AddField("post", "new", NUMBER(null=True)),
    migrations.AlterField("post", "hidden_at", models.DateTimeField(null=True, editable=False)),
    migrations.AlterField("publishedkey", "key", models.CharField(max_length=300)),
    migrations.CreateModel("new", []),
    migrations.RunSQL("", state_operations=[migrations.RemoveField("post", "hidden_at")]),
]


@pytest.mark.parametrize("operation", BREAK, ids=lambda operation: operation.describe())
def test_a_breaking_operation_is_found(operation):
    assert list(faults_of(operation, "posts", LOADER.project_state()))


@pytest.mark.parametrize("operation", PASS, ids=lambda operation: operation.describe())
def test_an_added_operation_is_accepted(operation):
    assert not list(faults_of(operation, "posts", LOADER.project_state()))


def test_apps_of_tideline_are_told_from_packages() -> None:
    """An empty database is created with that list. Folders do not tell them apart: `pip install .`
    puts Tideline into the folder of its packages."""
    folders = {app.name: Path(app.path).parts for app in apps.get_app_configs()}
    packages = {name for name, parts in folders.items() if "site-packages" in parts}
    assert {*settings.OWN_APPS} == {*folders} - packages
