"""Old code runs on the new schema: migrate first, then roll the processes, one by one.

What old code could not live with is a second step: it stands in a migration of its own, in a
version after the one whose code stopped using it, below a comment that begins "Second step:".
"""

import pytest
from django.conf import settings
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

LOADER = MigrationLoader(None)
MARK = "# Second step:"
# Constraints and indexes are looked at by whoever writes them: old code may break a new constraint.
BREAKING = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
    migrations.AlterUniqueTogether,
)
OURS = sorted(
    key
    for key, migration in LOADER.disk_migrations.items()
    if (settings.BASE_DIR / migration.__module__.partition(".")[0]).is_dir()
    and not key[1].startswith("0001_")
)


def faults_of(operation: migrations.operations.base.Operation, app: str, before: ProjectState):
    """Why code of the version before could not run after it; empty: it can."""
    if isinstance(operation, BREAKING):
        yield f"{operation.describe()}: old code asks for it by the old name"
    elif isinstance(operation, migrations.AddField):
        if not is_filled(operation.field):
            yield f"{operation.describe()}: old code inserts rows without it; give it a db_default"
    elif isinstance(operation, migrations.AlterField):
        old = before.models[app, operation.model_name_lower].fields[operation.name]
        yield from _alterations(old, operation)


def is_filled(field: models.Field) -> bool:
    return field.null or field.has_db_default() or field.many_to_many


def _alterations(old: models.Field, operation: migrations.AlterField):
    new = operation.field
    kinds = (old.db_type(connection), new.db_type(connection))
    if kinds[0] != kinds[1] and not (kinds[1] == "text" and kinds[0].startswith("varchar")):
        yield f"{operation.describe()}: from {kinds[0]} to {kinds[1]}"
    if old.null and not new.null:
        yield f"{operation.describe()}: old code writes NULL"
    if old.has_db_default() and not is_filled(new):
        yield f"{operation.describe()}: old code leaves it to the default that goes"


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


def test_there_are_migrations_to_look_at():
    assert len(OURS) > 10


NUMBER = models.IntegerField
BREAK = [
    migrations.RemoveField("post", "hidden_at"),
    migrations.RenameField("post", "hidden_at", "gone_at"),
    migrations.DeleteModel("post"),
    migrations.AddField("post", "new", NUMBER(default=1)),
    migrations.AlterField("post", "hidden_at", models.DateTimeField()),
    migrations.AlterField("post", "hidden_at", models.DateField(null=True)),
    migrations.AlterField("post", "hidden_revision", models.BigIntegerField()),
]
PASS = [
    migrations.AddField("post", "new", NUMBER(db_default=1)),
    migrations.AddField("post", "new", NUMBER(null=True)),
    migrations.AlterField("post", "hidden_at", models.DateTimeField(null=True, editable=False)),
    migrations.CreateModel("new", []),
]


@pytest.mark.parametrize("operation", BREAK, ids=lambda operation: operation.describe())
def test_what_old_code_cannot_live_with_is_found(operation):
    assert list(faults_of(operation, "posts", LOADER.project_state()))


@pytest.mark.parametrize("operation", PASS, ids=lambda operation: operation.describe())
def test_what_is_added_beside_is_not(operation):
    assert not list(faults_of(operation, "posts", LOADER.project_state()))
