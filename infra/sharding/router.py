"""Django's database router. It uses the model's placement, and raises instead of guessing.

Stops a statement on a database that does not have its tables, before it is sent.

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
from django.db.models import Model

from infra.sharding.errors import ReplicaIsReadOnly, ShardNotChosen, WrongPlacement
from infra.sharding.placement import (
    GLOBAL_ALIAS,
    Placement,
    is_allowed,
    is_known,
    placement_of,
    shard_behind,
)


class PlacementRouter:
    """GLOBAL models use the default database. All other queries must name their database."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        if placement_of(model) is Placement.GLOBAL:
            return GLOBAL_ALIAS
        instance = hints.get("instance")
        if instance is not None and instance._state.db:
            return str(instance._state.db)
        raise ShardNotChosen(f"{model._meta.label} needs .on(alias) or .of(owner_id)")

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        """As for reads. A row read from a replica may be old, so it must not be saved."""
        alias = self.db_for_read(model, **hints)
        if shard_behind(alias):
            raise ReplicaIsReadOnly(f"{model._meta.label} was read from {alias}")
        return alias

    def allow_relation(self, left: Model, right: Model, **hints: Any) -> bool:
        """Foreign keys stay inside one placement and one database."""
        same_database = left._state.db == right._state.db
        return placement_of(type(left)) is placement_of(type(right)) and same_database

    def allow_migrate(
        self, alias: str, app_label: str, model_name: str | None = None, **hints: Any
    ) -> bool:
        """Uses the model's placement. An operation without a model uses its `placement` hint, or
        the placement that all models of its app share. A replica gets its schema from its shard.

        Raises: ShardNotChosen without a hint and a shared placement. Else RunSQL could run on the
        wrong databases.
        """
        if shard_behind(alias):
            return False
        if "placement" in hints:
            return is_allowed(Placement(hints["placement"]), alias)
        if model_name is not None:
            model = hints.get("model") or _find_model(app_label, model_name)
            placement = placement_of(_current(model)) if model else Placement.GLOBAL
            return is_allowed(placement, alias)
        return is_allowed(_shared_placement(app_label), alias)


def has_tables_on(app_label: str, alias: str) -> bool:
    """Whether this database has a table of this app."""
    models = apps.get_app_config(app_label).get_models()
    return any(is_allowed(placement_of(model), alias) for model in models)


def _shared_placement(app_label: str) -> Placement:
    placements = {placement_of(model) for model in apps.get_app_config(app_label).get_models()}
    if len(placements) != 1:
        raise ShardNotChosen(f"an operation of {app_label} needs hints={{'placement': …}}")
    return placements.pop()


def _find_model(app_label: str, model_name: str) -> type[Model] | None:
    try:
        return apps.get_model(app_label, model_name)
    except LookupError:
        return None


def _current(model: type[Model]) -> type[Model]:
    """The class of today. Migrations pass historical classes, which lack `placement`."""
    return _find_model(model._meta.app_label, model._meta.model_name or "") or model


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
