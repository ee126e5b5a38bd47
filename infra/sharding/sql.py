"""Raw statements on a chosen database: the hot paths' way past the ORM (half its cost)."""

from collections.abc import Sequence
from typing import Any

from django.db import connections


def fetch_all(alias: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of one statement. One round trip."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def fetch_one(alias: str, sql: str, params: Sequence[Any] = ()) -> tuple[Any, ...] | None:
    """The first row, or None. One round trip."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()


def execute(alias: str, sql: str, params: Sequence[Any] = ()) -> int:
    """Runs one statement and returns how many rows it touched. One round trip."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.rowcount
