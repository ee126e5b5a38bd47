"""Raw statements on a chosen database. Hot paths use them: they cost half of what the ORM costs.

Sessions prepare them (`prepared_cursor`).

The functions of the database. Each app that has some keeps them in its `functions.sql`.

It is the whole present text, in the order of the write. Released migrations run copies of it:
docs/explanation/decisions/0036-a-write-is-one-function-of-the-database.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from django.apps import apps
from django.db import Error, connections

from infra.sharding.bounded.base import DatabaseWrapper

Params = Sequence[Any] | Mapping[str, Any]


class Statement(NamedTuple):
    """A statement and its parameters."""

    sql: str
    params: Params = ()


def fetch_pipelined(alias: str, statements: Sequence[Statement]) -> list[list[tuple[Any, ...]]]:
    """The rows of each statement, none for a statement without rows. One round trip.

    The statements run one after another, each in a snapshot of its own. The caller has begun a
    transaction. Raises: the error of the first statement that fails; the later ones do not run.
    """
    connection = _connection(alias)
    cursors = [connection.prepared_cursor() for _ in statements]
    try:
        with connection.wrap_database_errors, connection.connection.pipeline():
            for cursor, statement in zip(cursors, statements, strict=True):
                cursor.execute(*statement)
    except Error:
        # The rollback would not notice it: psycopg only queues it in a pipeline that has broken.
        if connection.connection is not None and connection.connection.closed:
            connection.close()
        raise
    return [cursor.fetchall() if cursor.description else [] for cursor in cursors]


def fetch_all(alias: str, sql: str, params: Params = ()) -> list[tuple[Any, ...]]:
    """All rows of one statement. One round trip."""
    with _connection(alias).prepared_cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def fetch_one(alias: str, sql: str, params: Params = ()) -> tuple[Any, ...] | None:
    """The first row, or None. One round trip."""
    with _connection(alias).prepared_cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()


def execute(alias: str, sql: str, params: Params = ()) -> int:
    """Runs one statement. Returns the number of rows it changed. One round trip."""
    with _connection(alias).prepared_cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.rowcount


def _connection(alias: str) -> DatabaseWrapper:
    return cast(DatabaseWrapper, connections[alias])


def functions_of(app_label: str) -> str:
    """The statements that create all functions of an app, or replace them."""
    return Path(apps.get_app_config(app_label).path, "functions.sql").read_text()


def named_call(function: str, names: Iterable[str]) -> str:
    """`function(name := %s, …)`: the values follow in the order of these names."""
    return f"{function}({', '.join(f'{name} := %s' for name in names)})"
