"""The schema of a database as lines of text, and how it differs from the models and other shards.

    column posts_post.moment bigint not null
    index relations_forwardedge: CREATE INDEX … ON public.relations_forwardedge USING btree (…)
    constraint counters_counter: CHECK ((value >= 0))

Partitions are left out, because each database has its own days. Partitioned tables are in.

Brings one database to the schema of this code, and writes its identity.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.db import connections, models
from django.db.migrations.executor import MigrationExecutor

from infra.sharding.identity import create_identity, find_identity
from infra.sharding.new_database import create_schema, is_empty
from infra.sharding.placement import GLOBAL_ALIAS, is_allowed, placement_of
from infra.sharding.sql import fetch_all

SchemaLines = frozenset[str]

TABLES = """
SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
COLUMNS = f"""
SELECT t.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
FROM pg_attribute a JOIN ({TABLES}) AS t ON t.oid = a.attrelid
WHERE a.attnum > 0 AND NOT a.attisdropped
"""  # noqa: S608 - of a constant
# A failed CREATE INDEX CONCURRENTLY leaves an invalid index, which no query uses.
INDEXES = f"""
SELECT t.relname, pg_get_indexdef(i.indexrelid)
    || CASE WHEN i.indisvalid THEN '' ELSE ' (invalid)' END
FROM pg_index i JOIN ({TABLES}) AS t ON t.oid = i.indrelid
"""  # noqa: S608
# From PostgreSQL 18 on, NOT NULL is a constraint. COLUMNS has it already.
CONSTRAINTS = f"""
SELECT t.relname, pg_get_constraintdef(k.oid), k.conname
FROM pg_constraint k JOIN ({TABLES}) AS t ON t.oid = k.conrelid WHERE k.contype <> 'n'
"""  # noqa: S608
INDEX_NAME = re.compile(r"INDEX (\S+) ON")


def read_schema(alias: str) -> SchemaLines:
    """The lines of all tables of a database. Three queries on catalogues."""
    columns = (
        f"column {table}.{name} {kind}{' not null' if not_null else ''}"
        for table, name, kind, not_null in fetch_all(alias, COLUMNS)
    )
    indexes = (f"index {table}: {text}" for table, text in fetch_all(alias, INDEXES))
    constraints = (
        f"constraint {table}: {name} {text}" for table, text, name in fetch_all(alias, CONSTRAINTS)
    )
    return frozenset((*columns, *indexes, *constraints))


def find_missing_schema(alias: str, schema: SchemaLines) -> list[str]:
    """What the models need and this schema lacks, one line each. No query."""
    columns = {line for line in schema if line.startswith("column ")}
    names = {f"{_table_of(line)}.{_name_of(line)}" for line in schema - columns}
    missing = []
    for model in _models_on(alias):
        missing += [f"lacks {line}" for line in _columns_of(alias, model) if line not in columns]
        table = model._meta.db_table
        missing += [
            f"lacks {name} of {table}"
            for name in _names_of(model)
            if f"{table}.{name}" not in names
        ]
    invalid = [f"has {line}" for line in schema if line.endswith("(invalid)")]
    return sorted(missing) + sorted(invalid)


def list_missing_migrations(alias: str) -> list[str]:
    """Migrations that migrate_shards would apply here, one line each. A few queries."""
    executor = MigrationExecutor(connections[alias])
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"lacks migration {migration}" for migration, _ in plan]


def find_outliers(schemas: Mapping[str, SchemaLines]) -> dict[str, list[str]]:
    """Differences from the majority of the databases, by alias: missing and extra lines."""
    counts = Counter(line for lines in schemas.values() for line in lines)
    common = {line for line, count in counts.items() if count * 2 > len(schemas)}
    return {
        alias: [f"lacks {line}" for line in sorted(common - lines)]
        + [f"has alone {line}" for line in sorted(lines - common)]
        for alias, lines in schemas.items()
    }


def _models_on(alias: str) -> Iterable[type[models.Model]]:
    """Without many-to-many tables: Django's models and migrations disagree on their id type."""
    return (
        model
        for model in apps.get_models()
        if not model._meta.proxy and is_allowed(placement_of(model), alias)
    )


def _columns_of(alias: str, model: type[models.Model]) -> list[str]:
    lines = []
    for field in model._meta.local_concrete_fields:
        kind = str(field.db_type(connections[alias])).replace("varchar", "character varying")
        end = "" if field.null else " not null"
        lines.append(f"column {model._meta.db_table}.{field.column} {kind}{end}")
    return lines


def _names_of(model: type[models.Model]) -> list[str]:
    """Names of indexes and constraints. Names that Django makes itself are not fixed."""
    return [part.name for part in (*model._meta.indexes, *model._meta.constraints)]


def _table_of(line: str) -> str:
    return line.split(" ", 2)[1].rstrip(":")


def _name_of(line: str) -> str:
    match = INDEX_NAME.search(line)
    return match[1] if match else line.split(" ", 3)[2]


def migrate_database(alias: str, say: Callable[[str], object], verbosity: int = 0) -> None:
    """Creates the schema of an empty database, else applies what it lacks. Safety: idempotent.

    The caller has checked that it is the right database. `say` gets one line or two.
    """
    if is_empty(alias):
        create_schema(alias)
        say(f"{alias}: created")
    if plan := _plan(alias):
        say(f"{alias}: {len(plan)} migrations to apply")
        call_command("migrate", database=alias, verbosity=verbosity)
    else:
        say(f"{alias}: current")
    _identify(alias)


def _plan(alias: str) -> list[Any]:
    """Migrations to apply."""
    executor = MigrationExecutor(connections[alias])
    return executor.migration_plan(executor.loader.graph.leaf_nodes())


def _identify(alias: str) -> None:
    """Creates the identity of a new database. The default database must have the table by then."""
    if find_identity(alias) is None and (alias == GLOBAL_ALIAS or not _plan(GLOBAL_ALIAS)):
        create_identity(alias)
