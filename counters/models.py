"""The tables of the counting service."""

from django.db import models

from infra.sharding.models import ShardedModel


class Counter(ShardedModel):
    """SHARDED by owner_id, about three rows an account; written by counters/functions.sql and
    counters.actions.move_counts.

    `subject` is 0 for the account itself, or the moment of one of its posts. Every move, also a
    move by zero, adds one to `version`, so it is the version of the counted list.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "subject", "kind")
    owner_id = models.BigIntegerField()
    subject = models.BigIntegerField()
    kind = models.SmallIntegerField()
    value = models.BigIntegerField()
    version = models.BigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(value__gte=0), name="counter_not_negative")
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}/{self.subject} kind {self.kind}: {self.value}"


class PostponedMove(ShardedModel):
    """SHARDED by owner_id. Rows for a second, and only of counts that are written very often.

    Moves that are not part of their count yet: the value of the count plus the sum of `delta` is
    the number of the rows. `about`: the account whose row moved the count; its moves are one row.
    Written by counters.actions.postpone.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "subject", "kind", "about")
    owner_id = models.BigIntegerField()
    subject = models.BigIntegerField()
    kind = models.SmallIntegerField()
    about = models.BigIntegerField()
    delta = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.owner_id}/{self.subject} kind {self.kind}: {self.delta:+} of {self.about}"
