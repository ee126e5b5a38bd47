"""The rows of the counting service."""

from django.db import models

from infra.sharding.models import ShardedModel


class Counter(ShardedModel):
    """SHARDED by owner_id, about three rows an account, written only by counters.actions.move.

    `subject` is 0 for the account itself, or one of its posts. `version` grows by one with every
    move, also one by zero: it is the version of the list being counted.
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
