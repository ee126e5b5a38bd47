"""The table of images. Sharded by the account that uploaded them."""

from django.db import models

from accounts.images.types import Purpose
from infra.sharding.models import ShardedModel

PURPOSES = [(purpose.value, purpose.name) for purpose in Purpose]


class StoredImage(ShardedModel):
    """SHARDED by owner_id, a few hundred rows an account; written by accounts.images.actions.

    A file exists only while its row exists: the row is written before the files, and deleted after
    them. `remove_after`: from when on the files may be deleted; NULL while the image is in use.
    `used_by`: the moment of the post that has the image; NULL for others. A write with a lower
    `hidden_revision` than the row's changes nothing.

    `token`: part of the names that the files have now. `next_token`: of those to which they are
    moving; else NULL. `public_token`: of those that readers know; NULL: they know `token`.
    `withheld_token`: of those that only moderators see, where files are `of_hidden_post` and
    `of_suspended`; NULL until then. actions/place_files.py
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "id")
    owner_id = models.BigIntegerField()
    id = models.BigIntegerField()
    purpose = models.SmallIntegerField(choices=PURPOSES)
    token = models.CharField(max_length=32)
    facts = models.JSONField()
    description = models.TextField(blank=True, db_default="")
    focus_x = models.FloatField(db_default=0.0)
    focus_y = models.FloatField(db_default=0.0)
    created_at = models.DateTimeField()
    remove_after = models.DateTimeField(null=True)
    used_by = models.BigIntegerField(null=True)
    hidden_at = models.DateTimeField(null=True)
    hidden_revision = models.BigIntegerField(db_default=0)
    next_token = models.CharField(max_length=32, null=True)  # noqa: DJ001 - most have none
    public_token = models.CharField(max_length=32, null=True)  # noqa: DJ001 - most have none
    withheld_token = models.CharField(max_length=32, null=True)  # noqa: DJ001 - most have none
    of_hidden_post = models.BooleanField(db_default=False)
    of_suspended = models.BooleanField(db_default=False)

    class Meta:
        indexes = [
            # the unused images of an account, and those of a shard for the job; few rows
            models.Index(
                fields=["owner_id", "id"],
                name="image_unused",
                condition=models.Q(remove_after__isnull=False),
                include=["remove_after"],
            ),
            # the images of a post
            models.Index(
                fields=["owner_id", "used_by"],
                name="image_of_post",
                condition=models.Q(used_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}/{self.id}"
