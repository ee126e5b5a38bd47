"""Edges. The forward edge is the truth; the backward edge mirrors it on the followee's shard."""

from django.db import models

from infra.sharding.models import ShardedModel
from relations.types import Attribute

LIVE = models.Q(attribute=Attribute.FOLLOW)


class ForwardEdge(ShardedModel):
    """SHARDED by follower_id, ~500 rows an account; written by relations.actions.

    Ended, never deleted: `revision` only grows, so that news of the edge can be told apart by age.
    """

    owner = "follower_id"

    pk = models.CompositePrimaryKey("follower_id", "followee_id")
    follower_id = models.BigIntegerField()
    followee_id = models.BigIntegerField()
    attribute = models.SmallIntegerField(choices=[(a.value, a.name) for a in Attribute])
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    class Meta:
        indexes = [
            # following list: newest first, index-only
            models.Index(
                fields=["follower_id", "-since_ms", "-followee_id"],
                name="forward_following",
                condition=LIVE,
            )
        ]

    def __str__(self) -> str:
        return f"{self.follower_id} → {self.followee_id}"


class BackwardEdge(ShardedModel):
    """SHARDED by followee_id, as many rows as followers; written by mirror_backward_edges only.

    Carries the forward edge's revision: news with a lower one is old and changes nothing.
    """

    owner = "followee_id"

    pk = models.CompositePrimaryKey("followee_id", "follower_id")
    followee_id = models.BigIntegerField()
    follower_id = models.BigIntegerField()
    attribute = models.SmallIntegerField(choices=[(a.value, a.name) for a in Attribute])
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    class Meta:
        indexes = [
            # followers list, and fan-out's scan of followers, index-only
            models.Index(
                fields=["followee_id", "-since_ms", "-follower_id"],
                name="backward_followers",
                condition=LIVE,
            )
        ]

    def __str__(self) -> str:
        return f"{self.followee_id} ← {self.follower_id}"
