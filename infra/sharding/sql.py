"""Raw statements on a chosen database. Hot paths use them: they cost half of what the ORM costs.

Sessions prepare them (`prepared_cursor`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

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
