"""The tables of the change log. Every database, the default one included, has its own set."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from infra.sharding.models import ShardedQuerySet
from infra.sharding.placement import Placement


class ChangeState(models.IntegerChoices):
    PENDING = 0
    PARKED = 1


class LocalQuerySet(ShardedQuerySet):
    """Rows that belong to the database they are on, whoever their owner is."""

    _insert = models.QuerySet._insert  # type: ignore[attr-defined]


class LocalModel(models.Model):
    """EVERYWHERE: each database has its own table; rows never leave it."""

    placement: ClassVar[Placement] = Placement.EVERYWHERE
    owner: ClassVar[str] = "owner_id"

    objects: ClassVar[Any] = LocalQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"


class Change(LocalModel):
    """EVERYWHERE, written by append_change, removed by the drain; small unless something is wrong.

    `id` grows per database and is the version of what the change reports.
    """

    id = models.BigAutoField(primary_key=True)
    lane = models.SmallIntegerField()
    kind = models.CharField(max_length=64)
    owner_id = models.BigIntegerField()
    payload = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    state = models.SmallIntegerField(choices=ChangeState.choices, db_default=ChangeState.PENDING)
    attempts = models.IntegerField(db_default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    error = models.TextField(db_default="", blank=True)

    class Meta:
        indexes = [
            # take_batch: the oldest pending rows of a lane
            models.Index(
                fields=["lane", "id"],
                name="change_pending",
                condition=models.Q(state=ChangeState.PENDING),
            ),
            # park, show, retry, discard
            models.Index(
                fields=["id"], name="change_parked", condition=models.Q(state=ChangeState.PARKED)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.id} of {self.owner_id}"


class DeliveredChange(LocalModel):
    """EVERYWHERE, one partition a day, dropped after the replay window; written by the drain."""

    pk = models.CompositePrimaryKey("delivered_on", "id")
    delivered_on = models.DateField()
    id = models.BigIntegerField()
    lane = models.SmallIntegerField()
    kind = models.CharField(max_length=64)
    owner_id = models.BigIntegerField()
    payload = models.JSONField()
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "changes_delivered"

    def __str__(self) -> str:
        return f"{self.kind} #{self.id} of {self.owner_id}, delivered"


class DrainLease(LocalModel):
    """EVERYWHERE, one row a lane: who drains it now. `token` fences a drainer that was replaced."""

    lane = models.SmallIntegerField(primary_key=True)
    token = models.BigIntegerField()
    backend_pid = models.IntegerField()
    backend_start = models.DateTimeField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"lane {self.lane}, token {self.token}"


class PausedKind(LocalModel):
    """EVERYWHERE, one row a kind that is held back on this database; written by pausing.py.

    `is_ending`: nothing is held back any more, and what was is being let go.
    """

    kind = models.CharField(max_length=64, primary_key=True)
    reason = models.TextField()
    paused_at = models.DateTimeField(db_default=Now())
    is_ending = models.BooleanField(default=False, db_default=False)

    def __str__(self) -> str:
        return f"{self.kind}{', ending' if self.is_ending else ''}"


class DiscardedChange(LocalModel):
    """EVERYWHERE, the parked changes somebody threw away, as they were; never deleted.

    `id` is the change's own. A handful, unless something went very wrong.
    """

    id = models.BigIntegerField(primary_key=True)
    lane = models.SmallIntegerField()
    kind = models.CharField(max_length=64)
    owner_id = models.BigIntegerField()
    payload = models.JSONField()
    created_at = models.DateTimeField()
    attempts = models.IntegerField()
    error = models.TextField()
    reason = models.TextField()
    discarded_by = models.TextField()
    discarded_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.kind} #{self.id} of {self.owner_id}, discarded"
