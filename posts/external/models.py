"""The ids that other systems give to posts."""

from django.db import models

from infra.importing.types import LONGEST_ID
from infra.sharding.models import ShardedModel


class ExternalPost(ShardedModel):
    """SHARDED by author_id, a row an imported post, never changed; written by posts_import.

    It outlives the post: a second import brings no deleted post back.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "external_id")
    author_id = models.BigIntegerField()
    external_id = models.CharField(max_length=LONGEST_ID)
    moment = models.BigIntegerField()

    class Meta:
        db_table = "posts_externalpost"
        indexes = [
            # finds posts by external ids, of authors that are not known
            models.Index(fields=["external_id"], name="external_post_of_id")
        ]

    def __str__(self) -> str:
        return f"{self.external_id} is {self.author_id}/{self.moment}"
