"""Django's database router: looks the placement up and raises rather than guesses."""

from typing import Any

from django.apps import apps
from django.db.models import Model

from infra.sharding.errors import ReplicaIsReadOnly, ShardNotChosen
from infra.sharding.placement import (
    GLOBAL_ALIAS,
    Placement,
    is_allowed,
    placement_of,
    shard_behind,
)


class PlacementRouter:
    """GLOBAL models go to the default database; all others must say where."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        if placement_of(model) is Placement.GLOBAL:
            return GLOBAL_ALIAS
        instance = hints.get("instance")
        if instance is not None and instance._state.db:
            return str(instance._state.db)
        raise ShardNotChosen(f"{model._meta.label} needs .on(alias) or .of(owner_id)")

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        """As for reads. A row that a replica gave may be an old one: it is not to be saved."""
        alias = self.db_for_read(model, **hints)
        if shard_behind(alias):
            raise ReplicaIsReadOnly(f"{model._meta.label} was read from {alias}")
        return alias

    def allow_relation(self, left: Model, right: Model, **hints: Any) -> bool:
        """Foreign keys never cross placements nor databases."""
        same_database = left._state.db == right._state.db
        return placement_of(type(left)) is placement_of(type(right)) and same_database

    def allow_migrate(
        self, alias: str, app_label: str, model_name: str | None = None, **hints: Any
    ) -> bool:
        """By the model's placement; operations without a model by their `placement` hint, or by
        the placement that all models of the app share. Never on a replica: it follows its shard.

        Raises: ShardNotChosen when they share none, so that no RunSQL lands where it should not.
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
    """Whether any model of the app has its table on this database."""
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
    """Migrations hand over historical classes, which do not carry our attribute."""
    return _find_model(model._meta.app_label, model._meta.model_name or "") or model
