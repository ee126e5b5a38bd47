"""The table of filters."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from infra.sharding.models import ShardedModel

LONGEST_TITLE = 256
LONGEST_KEYWORD = 512


class Filter(ShardedModel):
    """SHARDED by owner_id, at most MOST_FILTERS an account; written by edit_filters.

    `keywords` and `statuses` are lists of objects, always read and written together.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "filter_id")
    owner_id = models.BigIntegerField()
    filter_id = models.BigIntegerField()
    title = models.CharField(max_length=LONGEST_TITLE)
    contexts = ArrayField(models.CharField(max_length=13))
    action = models.CharField(max_length=4)
    expires_ms = models.BigIntegerField(null=True)
    keywords = models.JSONField()
    statuses = models.JSONField()

    def __str__(self) -> str:
        return f"{self.title} of {self.owner_id}"
