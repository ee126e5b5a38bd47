"""Raw statements on a chosen database. Hot paths use them: they cost half of what the ORM costs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connections

Params = Sequence[Any] | Mapping[str, Any]


def fetch_all(alias: str, sql: str, params: Params = ()) -> list[tuple[Any, ...]]:
    """All rows of one statement. One round trip."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def fetch_one(alias: str, sql: str, params: Params = ()) -> tuple[Any, ...] | None:
    """The first row, or None. One round trip."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()


def execute(alias: str, sql: str, params: Params = ()) -> int:
    """Runs one statement. Returns the number of rows it changed. One round trip."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.rowcount
