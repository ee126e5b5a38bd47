"""Edges, mutes, and how many follows an account began today."""

from django.db import models

from infra.sharding.models import ShardedModel
from relations.types import Attribute, EdgeFlag

FOLLOWS = models.Q(attribute__in=(Attribute.FOLLOW.value, Attribute.WHISPER.value))


class ForwardEdge(ShardedModel):
    """SHARDED by follower_id, ~500 rows an account; written by relations.actions.

    Ended, never deleted: `revision` only grows, so that news of the edge can be told apart by age.
    """

    owner = "follower_id"

    pk = models.CompositePrimaryKey("follower_id", "followee_id")
    follower_id = models.BigIntegerField()
    followee_id = models.BigIntegerField()
    attribute = models.SmallIntegerField(choices=[(a.value, a.name) for a in Attribute])
    flags = models.SmallIntegerField(db_default=EdgeFlag.NOTHING.value)
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    class Meta:
        indexes = [
            # following list: newest first, index-only
            models.Index(
                fields=["follower_id", "-since_ms", "-followee_id"],
                name="forward_follows",
                condition=FOLLOWS,
                include=["attribute"],
            ),
            # the owner's quiet follows and blocks, newest first
            models.Index(
                fields=["follower_id", "attribute", "-since_ms", "-followee_id"],
                name="forward_secrets",
                condition=models.Q(attribute__in=(Attribute.WHISPER.value, Attribute.BLACK.value)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.follower_id} → {self.followee_id}"


class BackwardEdge(ShardedModel):
    """SHARDED by followee_id, as many rows as followers; written by mirror_backward_edges only.

    Carries the forward edge's revision: news with a lower one is old and changes nothing. Blocks
    are mirrored too, so that "does X block me" is on my own shard.
    """

    owner = "followee_id"

    pk = models.CompositePrimaryKey("followee_id", "follower_id")
    followee_id = models.BigIntegerField()
    follower_id = models.BigIntegerField()
    attribute = models.SmallIntegerField(choices=[(a.value, a.name) for a in Attribute])
    flags = models.SmallIntegerField(db_default=EdgeFlag.NOTHING.value)
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    class Meta:
        indexes = [
            # followers list, and fan-out's scan of followers, index-only
            models.Index(
                fields=["followee_id", "-since_ms", "-follower_id"],
                name="backward_follows",
                condition=FOLLOWS,
                include=["attribute"],
            )
        ]

    def __str__(self) -> str:
        return f"{self.followee_id} ← {self.follower_id}"


class Muted(ShardedModel):
    """SHARDED by owner_id, a few rows an account; written by relations.actions.mute.

    Ended, never deleted, as edges are. `until_ms` 0: until it is ended.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "target_id")
    owner_id = models.BigIntegerField()
    target_id = models.BigIntegerField()
    is_on = models.BooleanField()
    hides_notifications = models.BooleanField()
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()
    until_ms = models.BigIntegerField()

    class Meta:
        indexes = [
            # the owner's muted accounts, newest first
            models.Index(
                fields=["owner_id", "-since_ms", "-target_id"],
                name="muted_list",
                condition=models.Q(is_on=True),
                include=["until_ms"],
            )
        ]

    def __str__(self) -> str:
        return f"{self.owner_id} mutes {self.target_id}"


class FollowDay(ShardedModel):
    """SHARDED by account_id, one row an account: follows begun on its latest such day (UTC)."""

    owner = "account_id"

    account_id = models.BigIntegerField(primary_key=True)
    day = models.IntegerField()  # days since 1970
    begun = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.account_id}: {self.begun} on day {self.day}"
