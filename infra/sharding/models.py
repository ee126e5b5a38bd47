"""The bucket map, identities of databases, pulses of shards, the base class of sharded models."""

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models.functions import Now

from infra.sharding.buckets import shard_of
from infra.sharding.errors import WrongShard
from infra.sharding.placement import Placement


class Bucket(models.Model):
    """GLOBAL, 16,384 rows, written by migrate_shards and by moves of buckets.

    `epoch`: that of the map since the bucket has this alias (0: always). `moved_at`: since when.
    """

    placement = Placement.GLOBAL

    bucket = models.PositiveSmallIntegerField(primary_key=True)
    alias = models.CharField(max_length=32)
    epoch = models.PositiveIntegerField(default=0, db_default=0)
    moved_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.bucket} → {self.alias}"


class Shard(models.Model):
    """GLOBAL, one row for each shard that `shards add` added; SHARD_DATABASE_URLS has the others.

    Never deleted. The URL is in the file `alias` of SHARD_URLS_DIR.
    """

    placement = Placement.GLOBAL

    alias = models.CharField(max_length=32, primary_key=True)
    added_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.alias}, since {self.added_at:%Y-%m-%d}"


class DatabaseIdentity(models.Model):
    """EVERYWHERE, one row, written once by migrate_shards: which database this is.

    `installation` is the same in all databases of an installation. Together with `alias` it is
    unique, so a database of another installation, or under the wrong alias, can be recognised.
    `map_epoch`: in the default database that of the bucket map; on a shard the last one that a
    move wrote there. `beat_at`: of the last pulse of a shard (infra.sharding.pulse).
    """

    placement = Placement.EVERYWHERE

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, db_default=1)
    alias = models.CharField(max_length=32)
    installation = models.UUIDField()
    created_at = models.DateTimeField()
    map_epoch = models.PositiveIntegerField(default=0, db_default=0)
    beat_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="database_identity_one_row")
        ]

    def __str__(self) -> str:
        return f"{self.alias} of installation {self.installation}, since {self.created_at:%Y-%m-%d}"


class Pulse(models.Model):
    """GLOBAL, a row a shard, written by compensators: how far the shard had come.

    `timeline`: of PostgreSQL; each promoted server begins a new one. `is_synchronous`: commits
    waited for a standby. `lost_since`: writes since then may be lost; `noticed_at`: so found.
    """

    placement = Placement.GLOBAL

    alias = models.CharField(max_length=32, primary_key=True)
    beat_at = models.DateTimeField()
    timeline = models.BigIntegerField()
    is_synchronous = models.BooleanField()
    lost_since = models.DateTimeField(null=True)
    noticed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.alias} at {self.beat_at:%Y-%m-%d %H:%M:%S}"


class ShardedQuerySet(models.QuerySet[Any, Any]):
    """A query set whose caller chooses the database, by alias or by owner."""

    def on(self, alias: str) -> Self:
        """All rows of one database."""
        return self.using(alias)

    def of(self, owner_id: int) -> Self:
        """The rows of one owner, on the owner's shard."""
        return self.using(shard_of(owner_id)).filter(**{self.model.owner: owner_id})

    def _insert(self, objs: Any, fields: Any, using: str | None = None, **options: Any) -> Any:
        """save() and bulk_create() both end here. Refuses a row whose owner has another shard."""
        for row in objs:
            owner_id = getattr(row, self.model.owner)
            if shard_of(owner_id) != (using or self.db):
                raise WrongShard(
                    f"{self.model._meta.label} of owner {owner_id} belongs on"
                    f" {shard_of(owner_id)}, not on {using or self.db}"
                )
        return super()._insert(objs, fields, using=using, **options)  # type: ignore[misc]

    _insert.alters_data = True  # type: ignore[attr-defined]
    _insert.queryset_only = False  # type: ignore[attr-defined]


class ShardedModel(models.Model):
    """Rows that live on their owner's shard. `owner` names the field with the owner's id."""

    placement: ClassVar[Placement] = Placement.SHARDED
    owner: ClassVar[str]

    objects: ClassVar[Any] = ShardedQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"
