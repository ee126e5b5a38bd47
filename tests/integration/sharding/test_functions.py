"""Two ways to the same schema: all migrations, and the present `functions.sql` of each app.

`migrate_shards`: brings what is behind up to date, says what is current.
"""

from io import StringIO
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.db.migrations.recorder import MigrationRecorder

from infra.sharding.management.commands.migrate_shards import Command
from infra.sharding.schema import read_schema
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all, functions_of

INSTALLED = """
SELECT replace(replace(pg_get_functiondef(oid), 'present.', ''), 'public.', '') FROM pg_proc
WHERE pronamespace = %s::regnamespace AND prokind = 'f' AND proname <> ALL(%s)
"""
# Of a trigger on a table of the default database, which its migration makes.
OF_MIGRATIONS = ["accounts_refuse_former_name"]
# Called functions first.
ON_SHARDS = (
    "changes", "accounts", "counters", "images", "scheduled_posts", "posts", "relations", "push",
    "notifications", "moves",
)  # fmt: skip


def functions_in(schema: str, cursor) -> set[str]:
    cursor.execute(INSTALLED, (schema, OF_MIGRATIONS))
    return {text for (text,) in cursor.fetchall()}


@pytest.mark.parametrize(
    ("alias", "labels"), [("default", ON_SHARDS[:1]), ("shard0", ON_SHARDS), ("shard3", ON_SHARDS)]
)
def test_migrations_and_functions_sql_give_the_same_functions(world, alias, labels):
    with transaction.atomic(alias), connections[alias].cursor() as cursor:
        migrated = functions_in("public", cursor)
        cursor.execute("CREATE SCHEMA present; SET LOCAL search_path = present, public")
        for label in labels:
            cursor.execute(functions_of(label))
        present = functions_in("present", cursor)
        transaction.set_rollback(True, alias)
    assert len(present) >= len(labels)
    assert migrated == present


def test_functions_sql_may_run_again(world):
    """It changes nothing: no table, no index over a function, no function."""
    with transaction.atomic("shard1"), connections["shard1"].cursor() as cursor:
        before = read_schema("shard1"), functions_in("public", cursor)
        for label in ON_SHARDS:
            cursor.execute(functions_of(label))
        assert (read_schema("shard1"), functions_in("public", cursor)) == before
        transaction.set_rollback(True, "shard1")


def test_no_file_of_functions_is_forgotten():
    every = apps.get_app_configs()
    files = {app.label for app in every if Path(app.path, "functions.sql").exists()}
    assert files == set(ON_SHARDS)


def migrate(**options):
    out = StringIO()
    call_command("migrate_shards", stdout=out, verbosity=1, **options)
    return out.getvalue()


def test_databases_that_are_current_are_left_alone(world):
    assert migrate() == "".join(f"{alias}: current\n" for alias in all_aliases())


def test_one_database_is_brought_up_to_date(world):
    """A shard that lacks the table of one app, as a shard does that was just added."""
    recorder = MigrationRecorder(connections["shard1"])
    recorder.record_unapplied("markers", "0001_initial")
    execute("shard1", "DROP TABLE markers_marker")
    assert migrate(shard="shard2") == "shard2: current\n"
    assert migrate(shard="shard1").startswith("shard1: 1 migrations to apply\n")
    assert fetch_all("shard1", "SELECT * FROM markers_marker") == []
    assert migrate(shard="shard1") == "shard1: current\n"


def test_unknown_database_is_refused():
    parser = Command().create_parser("manage.py", "migrate_shards")
    with pytest.raises(CommandError, match="shard99"):
        parser.parse_args(["--shard", "shard99"])
