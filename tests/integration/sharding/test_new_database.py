"""An empty database gets its schema at once: the same as from all migrations one by one."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.management import call_command
from django.db import connections

from infra.sharding import new_database
from infra.sharding.new_database import create_schema, is_empty
from infra.sharding.schema import read_schema
from infra.sharding.sql import fetch_all

pytestmark = pytest.mark.slow

FUNCTIONS = """
SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""
# Also what partitioned tables have by default, the defaults of columns, and the room in pages.
RELATIONS = """
SELECT c.relname, c.relkind, pg_get_expr(c.relpartbound, c.oid), d.adnum,
    pg_get_expr(d.adbin, d.adrelid), array_to_string(c.reloptions, ',')
FROM pg_class c LEFT JOIN pg_attrdef d ON d.adrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace
"""
MIGRATIONS = "SELECT app, name FROM django_migrations"
ON_DEFAULT = (
    "SELECT bucket, alias FROM sharding_bucket",
    "SELECT app_label, model FROM django_content_type",
    "SELECT codename, app_label, model FROM auth_permission"
    " JOIN django_content_type AS c ON c.id = content_type_id",
    "SELECT g.name, codename FROM auth_group AS g JOIN auth_group_permissions ON group_id = g.id"
    " JOIN auth_permission AS p ON p.id = permission_id",
)
SAME = {"default": (FUNCTIONS, MIGRATIONS, *ON_DEFAULT), "shard1": (FUNCTIONS, MIGRATIONS)}


@contextmanager
def new_database_at(alias: str) -> Iterator[None]:
    connection = connections[alias]
    own = connection.settings_dict["NAME"]
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE empty_one")
    connection.close()
    connection.settings_dict["NAME"] = "empty_one"
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own
        with connection.cursor() as cursor:
            cursor.execute("DROP DATABASE empty_one")


def everything_in(alias: str) -> list[set]:
    columns = [(*row[:3], *row[4:]) for row in fetch_all(alias, RELATIONS)]
    rows = [fetch_all(alias, statement) for statement in SAME[alias]]
    return [set(read_schema(alias)), set(columns), *map(set, rows)]


@pytest.mark.parametrize("alias", SAME)
def test_both_ways_give_the_same_database(world, alias):
    with new_database_at(alias):
        call_command("migrate", database=alias, verbosity=0)
        one_by_one = everything_in(alias)
    with new_database_at(alias):
        assert is_empty(alias)
        create_schema(alias)
        assert not is_empty(alias)
        # As migrate_shards does: later migrations come one by one.
        call_command("migrate", database=alias, verbosity=0)
        assert everything_in(alias) == one_by_one


def test_killed_before_its_end_leaves_the_database_empty(world, monkeypatch):
    def kill(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(new_database, "_record", kill)
    with new_database_at("shard1"):
        with pytest.raises(KeyboardInterrupt):
            create_schema("shard1")
        assert is_empty("shard1")
