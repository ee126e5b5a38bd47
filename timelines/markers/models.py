"""Markers: how far an account has read each timeline, shared by all its clients."""

from django.db import models

from infra.sharding.models import ShardedModel
from timelines.markers.types import Timeline

TIMELINES = [(timeline.value, timeline.name) for timeline in Timeline]
LONGEST_ID = 20


class Marker(ShardedModel):
    """SHARDED by account_id, at most one row per timeline; written by timelines.markers.rows.

    `version` grows with every write. Nothing is derived from a row.
    `last_read_id`: of home a post id in base36; of notifications a decimal number.
    `seen_ms`: of home: the entries up to this id that were visible then were read, by the clock of
    this shard. Null: the client sent only the id.
    """

    owner = "account_id"

    pk = models.CompositePrimaryKey("account_id", "timeline")
    account_id = models.BigIntegerField()
    timeline = models.SmallIntegerField(choices=TIMELINES)
    last_read_id = models.CharField(max_length=LONGEST_ID)
    version = models.BigIntegerField()
    updated_at = models.DateTimeField()
    seen_ms = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.account_id} read {Timeline(self.timeline).name} to {self.last_read_id}"
