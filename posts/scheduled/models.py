"""The table of scheduled posts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from infra.sharding.models import ShardedModel
from posts.models import PublishedKey


class ScheduledPost(ShardedModel):
    """SHARDED by author_id, at most MOST_SCHEDULED an author; written by posts.scheduled.actions.

    The row ends in the transaction that publishes the post. `scheduled_id`: the millisecond of the
    request, or the next free number. `params`: posts.scheduled.types.PostParams. `next_ms`: when to
    publish it, or to try again because another shard was away. `failure`: why it could not be
    published; then it waits for its author. `key`: of the request, valid for an hour. A row with a
    key stays after it is published (posts.scheduled.sql.PUBLISHED), until the author schedules
    another post after that hour.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "scheduled_id")
    author_id = models.BigIntegerField()
    scheduled_id = models.BigIntegerField()
    due_ms = models.BigIntegerField()
    next_ms = models.BigIntegerField()
    params = models.JSONField()
    media_ids = ArrayField(models.BigIntegerField())
    failure = models.TextField(blank=True, db_default="")
    key = models.CharField(
        max_length=PublishedKey._meta.get_field("key").max_length, blank=True, db_default=""
    )

    class Meta:
        indexes = [
            # publish_due: the posts of a shard that are due
            models.Index(fields=["next_ms"], name="scheduled_due", condition=models.Q(failure="")),
        ]

    def __str__(self) -> str:
        return f"{self.author_id}/{self.scheduled_id}"
