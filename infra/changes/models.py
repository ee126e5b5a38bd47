"""The change tables. Every database has its own set, the default database too."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from infra.sharding.models import ShardedQuerySet
from infra.sharding.placement import Placement


class ChangeState(models.IntegerChoices):
    PENDING = 0
    PARKED = 1


class LocalQuerySet(ShardedQuerySet):
    """Rows that belong to the database they are on. The account of a row does not choose it."""

    _insert = models.QuerySet._insert  # type: ignore[attr-defined]


class LocalModel(models.Model):
    """EVERYWHERE: each database has its own table, and rows never leave it."""

    placement: ClassVar[Placement] = Placement.EVERYWHERE
    owner: ClassVar[str] = "owner_id"

    objects: ClassVar[Any] = LocalQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"


class Change(LocalModel):
    """EVERYWHERE. Written by append_change, removed by the drain. Few rows unless a store is away.

    `id` grows per database. It is the version of the rows that the change reports.
    `is_waiting`: its last delivery failed because a store was out of reach.
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
    is_waiting = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            # take_batch: the oldest pending rows of a lane.
            models.Index(
                fields=["lane", "id"],
                name="change_pending",
                condition=models.Q(state=ChangeState.PENDING),
            ),
            # Commands and pages that list, retry or discard parked rows.
            models.Index(
                fields=["id"], name="change_parked", condition=models.Q(state=ChangeState.PARKED)
            ),
            # take_batch: earlier changes of the same owner that are tried again.
            models.Index(
                fields=["owner_id"],
                name="change_failed",
                condition=models.Q(state=ChangeState.PENDING) & ~models.Q(error=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.id} of {self.owner_id}"


class DeliveredChange(LocalModel):
    """EVERYWHERE, one partition a day, dropped after CHANGE_REPLAY_DAYS. Written by the drain.

    `sequence` counts the deliveries of one database, so a reader can order them without clocks.
    Transactions of two lanes may become visible in another order than their sequence numbers.
    """

    pk = models.CompositePrimaryKey("delivered_on", "id")
    delivered_on = models.DateField()
    id = models.BigIntegerField()
    lane = models.SmallIntegerField()
    kind = models.CharField(max_length=64)
    owner_id = models.BigIntegerField()
    payload = models.JSONField()
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField()
    sequence = models.BigIntegerField()

    class Meta:
        managed = False
        db_table = "changes_delivered"

    def __str__(self) -> str:
        return f"{self.kind} #{self.id} of {self.owner_id}, delivered"


class DrainLease(LocalModel):
    """EVERYWHERE, one row a lane: its drainer. `token` fences a drainer that was replaced.

    `throttled_until`: the end of the last throttle time of a folded lane.
    """

    lane = models.SmallIntegerField(primary_key=True)
    token = models.BigIntegerField()
    backend_pid = models.IntegerField()
    backend_start = models.DateTimeField()
    expires_at = models.DateTimeField()
    throttled_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"lane {self.lane}, token {self.token}"


class PausedKind(LocalModel):
    """EVERYWHERE, one row for each kind that is paused on this database. Written by pausing.py.

    `is_ending`: the kind is no longer paused, and its rows return to their lanes.
    """

    kind = models.CharField(max_length=64, primary_key=True)
    reason = models.TextField()
    paused_at = models.DateTimeField(db_default=Now())
    is_ending = models.BooleanField(default=False, db_default=False)

    def __str__(self) -> str:
        return f"{self.kind}{', ending' if self.is_ending else ''}"


class DiscardedChange(LocalModel):
    """EVERYWHERE, parked changes that an operator discarded, as they were. Never deleted.

    `id` is the id of the change. Expect a few rows.
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
