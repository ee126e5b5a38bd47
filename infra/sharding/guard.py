"""Stops a statement on a database where its tables do not live, before it leaves the process.

Django's `connection` and `transaction.atomic()` mean the default database when nobody chose one;
with this guard such a slip on sharded tables is a clear error, and so are the reverse, and a write
on a replica (which its server refuses as well, unless it is none any more).
Cost: one regular expression per statement, about 2 µs; two on replicas.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.sharding.errors import ReplicaIsReadOnly, WrongPlacement
from infra.sharding.placement import all_aliases, is_allowed, placement_of, shard_behind

READS = re.compile(r"\s*(SELECT|WITH|EXPLAIN|SHOW|SET TRANSACTION)\b", re.IGNORECASE)


def install_guard(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receiver of connection_created: every connection of ours is guarded from its first query."""
    if guard_statement in connection.execute_wrappers:
        return
    if connection.alias in all_aliases() or shard_behind(connection.alias):
        connection.execute_wrappers.append(guard_statement)
        if shard_behind(connection.alias):
            connection.execute_wrappers.append(refuse_writes)


def guard_statement(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Raises WrongPlacement, or lets the statement through."""
    alias = context["connection"].alias
    found = _foreign_tables(alias).search(sql)
    if found:
        raise WrongPlacement(f"table {found[1]} does not live on database {alias!r}")
    return execute(sql, params, many, context)


def refuse_writes(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Raises ReplicaIsReadOnly, or lets the statement through."""
    if not READS.match(sql):
        raise ReplicaIsReadOnly(f"{sql[:40]!r} on {context['connection'].alias!r}")
    return execute(sql, params, many, context)


@cache
def _foreign_tables(alias: str) -> re.Pattern[str]:
    """Matches the name of any of our tables that has no business on this database."""
    tables = [
        re.escape(model._meta.db_table)
        for model in apps.get_models(include_auto_created=True)
        if not is_allowed(placement_of(model), shard_behind(alias) or alias)
    ]
    return re.compile(r"(?<!\w)(" + "|".join(tables) + r")(?!\w)")
