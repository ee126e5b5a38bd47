"""Stops a statement on a database that does not have its tables, before it is sent.

Without a chosen database, Django's `connection` and `transaction.atomic()` use the default one.
The guard turns such a mistake on sharded tables into a clear error. It also stops the reverse
mistake, and writes on a replica, which the server itself accepts once it was promoted.
Cost: one regular expression per statement, two on replicas.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.sharding.errors import ReplicaIsReadOnly, WrongPlacement
from infra.sharding.placement import is_allowed, is_known, placement_of, shard_behind

READS = re.compile(r"\s*(SELECT|WITH|EXPLAIN|SHOW|SET TRANSACTION)\b", re.IGNORECASE)


def install_guard(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receiver of connection_created. Guards each of our connections from its first query on."""
    if guard_statement in connection.execute_wrappers:
        return
    if is_known(connection.alias) or shard_behind(connection.alias):
        connection.execute_wrappers.append(guard_statement)
        if shard_behind(connection.alias):
            connection.execute_wrappers.append(refuse_writes)


def guard_statement(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Runs the statement, or raises WrongPlacement."""
    alias = context["connection"].alias
    foreign = _foreign_tables(alias).search(sql)
    if foreign:
        raise WrongPlacement(f"table {foreign[1]} is not on database {alias!r}")
    return execute(sql, params, many, context)


def refuse_writes(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Runs the statement, or raises ReplicaIsReadOnly."""
    if not READS.match(sql):
        raise ReplicaIsReadOnly(f"{sql[:40]!r} on {context['connection'].alias!r}")
    return execute(sql, params, many, context)


@cache
def _foreign_tables(alias: str) -> re.Pattern[str]:
    """Matches the name of any of our tables that is not on this database."""
    tables = [
        re.escape(model._meta.db_table)
        for model in apps.get_models(include_auto_created=True)
        if not is_allowed(placement_of(model), shard_behind(alias) or alias)
    ]
    return re.compile(r"(?<!\w)(" + "|".join(tables) + r")(?!\w)")
