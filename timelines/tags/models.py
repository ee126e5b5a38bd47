"""Tables: names of tags, the tag index, the tags that accounts follow or feature, and where."""

from django.db import models

from infra.sharding.models import ShardedModel
from timelines.tags.types import TagListKind

LONGEST_NAME = 100
LIST_KINDS = [(kind.value, kind.name) for kind in TagListKind]


class Tag(ShardedModel):
    """SHARDED by tag_id, one row for each tag that a public post ever had. Never deleted."""

    owner = "tag_id"

    tag_id = models.BigIntegerField(primary_key=True)
    name = models.TextField()

    class Meta:
        # search: names that begin with a text
        indexes = [models.Index(fields=["name"], name="tag_name", opclasses=["text_pattern_ops"])]

    def __str__(self) -> str:
        return f"#{self.name}"


class TaggedPost(ShardedModel):
    """SHARDED by tag_id: the tag index, a row for each tag of a public post.

    Written by timelines.tags.actions.index_posts. Derived from the posts tables: the row of a
    deleted post may stay for a moment, so readers check that each post exists. The key serves a
    page of a tag timeline by an index-only scan: the posts of a tag in page order.
    `arrival`: when the row became visible, by this shard's clock in ms; 0 means long ago. Polls
    read it, and find rows that were late by a partial index (ADR 0034).
    """

    owner = "tag_id"

    pk = models.CompositePrimaryKey("tag_id", "second", "author_id", "sequence")
    tag_id = models.BigIntegerField()
    second = models.BigIntegerField()
    author_id = models.BigIntegerField()
    sequence = models.SmallIntegerField()
    arrival = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.author_id} at {self.second} with {self.tag_id}"


class AccountTag(ShardedModel):
    """SHARDED by owner_id, at most MOST_TAGS a list: followed and featured tags of an account.

    Written by timelines.tags.actions.own_tags.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "kind", "tag_id")
    owner_id = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=LIST_KINDS)
    tag_id = models.BigIntegerField()
    name = models.CharField(max_length=LONGEST_NAME)
    since_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.owner_id}: #{self.name}"


class TagSettings(ShardedModel):
    """SHARDED by owner_id, one row for each account that ever followed a tag or chose.

    Written by timelines.tags.actions.own_tags. `is_at_home`: home shows posts with followed tags.
    `version`: grows with each change of this choice and of the followed tags.
    """

    owner = "owner_id"

    owner_id = models.BigIntegerField(primary_key=True)
    is_at_home = models.BooleanField(default=False)
    version = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.owner_id}: {'at home' if self.is_at_home else 'apart'}"
