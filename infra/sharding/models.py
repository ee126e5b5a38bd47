"""The bucket map, and the class every sharded model derives from."""

from typing import Any, ClassVar, Self

from django.db import models

from infra.sharding.buckets import shard_of
from infra.sharding.errors import WrongShard
from infra.sharding.placement import Placement


class Bucket(models.Model):
    """GLOBAL, 1,024 rows, written by migrate_shards and bucket moves: bucket → database alias."""

    placement = Placement.GLOBAL

    bucket = models.PositiveSmallIntegerField(primary_key=True)
    alias = models.CharField(max_length=32)

    def __str__(self) -> str:
        return f"{self.bucket} → {self.alias}"


class ShardedQuerySet(models.QuerySet[Any, Any]):
    """A query set that is told its database, by name or by owner."""

    def on(self, alias: str) -> Self:
        """All rows of one database."""
        return self.using(alias)

    def of(self, owner_id: int) -> Self:
        """The rows of one owner, on the owner's shard."""
        return self.using(shard_of(owner_id)).filter(**{self.model.owner: owner_id})

    def _insert(self, objs: Any, fields: Any, using: str | None = None, **options: Any) -> Any:
        """The one door of save() and bulk_create(): refuses rows of another shard's owner."""
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
    """Rows that live on their owner's shard; `owner` names the field with the owner's id."""

    placement: ClassVar[Placement] = Placement.SHARDED
    owner: ClassVar[str]

    objects: ClassVar[Any] = ShardedQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"
