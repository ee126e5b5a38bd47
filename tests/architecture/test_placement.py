"""Where tables live: every model says it, and the databases look like it."""

import pytest
from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.migrations.recorder import MigrationRecorder

from infra.changes.models import LocalModel
from infra.sharding.models import ShardedModel, ShardedQuerySet
from infra.sharding.placement import Placement, is_allowed, placement_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all

TABLES = """
SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
PARTITIONS = """
SELECT p.relname, c.relname FROM pg_catalog.pg_inherits i
JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
WHERE c.relkind = 'r'
"""


def is_ours(model: type[models.Model]) -> bool:
    return (settings.BASE_DIR / model.__module__.partition(".")[0]).is_dir()


OURS = [model for model in apps.get_models(include_auto_created=True) if is_ours(model)]
SHARDED = [model for model in OURS if placement_of(model) is Placement.SHARDED]


def name(model: type[models.Model]) -> str:
    return model._meta.label


def test_the_models_looked_at_are_the_ones_meant():
    assert {"accounts.Account", "counters.Counter", "relations.ForwardEdge"} <= {
        *map(name, SHARDED)
    }
    assert {"accounts.User", "changes.Change", "jobs.JobCheckpoint"} <= {*map(name, OURS)}


@pytest.mark.parametrize("model", OURS, ids=name)
def test_every_model_declares_its_placement(model):
    """On itself or on the class it derives from; to the router silence means GLOBAL."""
    if not model._meta.auto_created:
        assert isinstance(model.placement, Placement)


@pytest.mark.parametrize("model", SHARDED, ids=name)
def test_sharded_model_guards_its_writes_and_its_reads(model):
    assert issubclass(model, ShardedModel)
    for manager in (model.objects, model._base_manager, model._default_manager):
        assert isinstance(manager.get_queryset(), ShardedQuerySet)


@pytest.mark.parametrize("model", SHARDED, ids=name)
def test_primary_key_of_a_sharded_model_starts_with_its_owner(model):
    """So that an owner's rows lie together, and can be moved and dropped as one range."""
    assert model._meta.pk_fields[0].name == model.owner


@pytest.mark.parametrize("model", OURS, ids=name)
def test_foreign_keys_do_not_cross_placements(model):
    for field in model._meta.get_fields():
        if isinstance(field, models.ForeignKey | models.ManyToManyField):
            assert placement_of(field.related_model) is placement_of(model) is Placement.GLOBAL


@pytest.mark.parametrize("model", [m for m in OURS if issubclass(m, LocalModel)], ids=name)
def test_local_models_are_everywhere(model):
    assert placement_of(model) is Placement.EVERYWHERE


def test_each_database_has_exactly_the_tables_placed_there(world):
    models_all = apps.get_models(include_auto_created=True)
    for alias in all_aliases():
        placed = {m._meta.db_table for m in models_all if is_allowed(placement_of(m), alias)}
        placed.add(MigrationRecorder.Migration._meta.db_table)
        assert {row[0] for row in fetch_all(alias, TABLES)} == placed, alias


def test_only_what_expires_by_the_day_is_partitioned(world):
    for alias in all_aliases():
        expected = {"changes_delivered"}
        if is_allowed(Placement.REPLICATED, alias):
            expected |= {"timelines_recentpost", "timelines_entry"}
        assert {row[0] for row in fetch_all(alias, PARTITIONS)} == expected, alias


def test_no_foreign_key_constraint_exists_on_a_shard(world):
    crossing = "SELECT conname FROM pg_catalog.pg_constraint WHERE contype = 'f'"
    for alias in settings.SHARD_ALIASES:
        assert fetch_all(alias, crossing) == []
