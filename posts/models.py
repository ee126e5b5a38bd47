"""Posts, clustered by author and time, and the keys that make publishing idempotent."""

from django.db import models

from infra.sharding.models import ShardedModel


class Post(ShardedModel):
    """SHARDED by author_id, ~1,000 rows an account; written by posts.actions.

    `moment` is second * 1296 + sequence (posts/ids.py). A deleted post stays as a tombstone
    without its text, so that its id is never given again.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "moment")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    text = models.TextField()
    sensitive = models.BooleanField(default=False)
    spoiler_text = models.TextField(blank=True, default="")
    language = models.CharField(max_length=16, null=True)  # noqa: DJ001 - the API says null
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # author timeline and pull: newest first, index-only
            models.Index(
                fields=["author_id", "-moment"],
                name="post_live",
                condition=models.Q(deleted_at=None),
            )
        ]

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}"


class PublishedKey(ShardedModel):
    """SHARDED by author_id: the Idempotency-Key of a post; written and deleted by create_post.

    Holds for an hour; an author's keys of that long ago are deleted with their next post.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "key")
    author_id = models.BigIntegerField()
    key = models.CharField(max_length=64)
    moment = models.BigIntegerField()
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.author_id}/{self.key}"
