"""The rows of moves: what is moved and how far, and on each shard the guards and the marks."""

from django.db import models
from django.db.models.functions import Now

from infra.sharding.placement import Placement
from operations.moves.types import MoveRoute


class Move(models.Model):
    """GLOBAL, one row a move, never deleted. Written by operations.moves.rows.

    `mask`, `values`: the buckets (bucket_set.py). `step`: the last step of the route that is done.
    `token`: raised by each process that takes the move over; the guards have it too. `epoch`: of
    the bucket map since the move, `undo_epoch`: since it was undone. `figures`: what was measured.
    """

    placement = Placement.GLOBAL

    source = models.CharField(max_length=32)
    target = models.CharField(max_length=32)
    mask = models.IntegerField()
    values = models.JSONField()
    route = models.CharField(max_length=16, choices=MoveRoute, default=MoveRoute.MOVE)
    step = models.CharField(max_length=32, default="")
    token = models.BigIntegerField(default=0, db_default=0)
    epoch = models.PositiveIntegerField(null=True)
    undo_epoch = models.PositiveIntegerField(null=True)
    figures = models.JSONField(default=dict)
    began_at = models.DateTimeField(db_default=Now())
    stepped_at = models.DateTimeField(db_default=Now())
    is_finished = models.BooleanField(default=False, db_default=False)

    def __str__(self) -> str:
        return f"move {self.pk} from {self.source} to {self.target}"


class Guard(models.Model):
    """EVERYWHERE, one row on both shards of each unfinished move. Written by guard.py.

    `closed_until`: until then the triggers of the move refuse writes of its accounts here.
    """

    placement = Placement.EVERYWHERE

    move = models.BigIntegerField(primary_key=True)
    token = models.BigIntegerField()
    closed_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"move {self.move}, closed until {self.closed_until}"


class Mark(models.Model):
    """EVERYWHERE, one row for each shard that a move wrote marks on; replicated like moved rows.

    A mark that has arrived says that all before it has been applied.
    """

    placement = Placement.EVERYWHERE

    pk = models.CompositePrimaryKey("move", "alias")
    move = models.BigIntegerField()
    alias = models.CharField(max_length=32)
    number = models.BigIntegerField()

    def __str__(self) -> str:
        return f"mark {self.number} of {self.alias}, move {self.move}"
