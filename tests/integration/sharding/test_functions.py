"""Two ways to the same schema: all migrations, and the present `functions.sql` of each app."""

from pathlib import Path

import pytest
from django.apps import apps
from django.db import connections, transaction

from infra.sharding.functions import functions_of
from infra.sharding.schema import read_schema

FUNCTIONS = """
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
    cursor.execute(FUNCTIONS, (schema, OF_MIGRATIONS))
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
