"""Stops a statement on a database where its tables do not live, before it leaves the process.

Django's `connection` and `transaction.atomic()` mean the default database when nobody chose one;
with this guard such a slip on sharded tables is a clear error, and so is the reverse.
Cost: one regular expression per statement, about 2 µs.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.sharding.errors import WrongPlacement
from infra.sharding.placement import all_aliases, is_allowed, placement_of


def install_guard(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receiver of connection_created: every connection of ours is guarded from its first query."""
    if connection.alias in all_aliases() and guard_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(guard_statement)


def guard_statement(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Raises WrongPlacement, or lets the statement through."""
    alias = context["connection"].alias
    found = _foreign_tables(alias).search(sql)
    if found:
        raise WrongPlacement(f"table {found[1]} does not live on database {alias!r}")
    return execute(sql, params, many, context)


@cache
def _foreign_tables(alias: str) -> re.Pattern[str]:
    """Matches the name of any of our tables that has no business on this database."""
    tables = [
        re.escape(model._meta.db_table)
        for model in apps.get_models(include_auto_created=True)
        if not is_allowed(placement_of(model), alias)
    ]
    return re.compile(r"(?<!\w)(" + "|".join(tables) + r")(?!\w)")
