"""Edges, mutes, and how many follows an account began today."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from infra.sharding.models import ShardedModel
from relations.types import NOTIFYING_FLAGS, Attribute, EdgeFlag, RelationKind

ATTRIBUTES = [(attribute.value, attribute.name) for attribute in Attribute]
KINDS = [(kind.value, kind.name) for kind in RelationKind]
IS_FOLLOW = models.Q(attribute__in=(Attribute.FOLLOW.value, Attribute.WHISPER.value))
IS_QUIET = models.Q(attribute=Attribute.WHISPER.value)
IS_NOTIFIED = IS_FOLLOW & models.Q(flags__in=NOTIFYING_FLAGS)
IS_REQUEST = models.Q(attribute__in=(Attribute.REQUESTED.value, Attribute.REQUESTED_QUIETLY.value))
IS_ENDORSED = models.Q(flags__gte=EdgeFlag.ENDORSED.value)
IS_SECRET = models.Q(attribute__in=(Attribute.WHISPER.value, Attribute.BLACK.value))


class EdgeModel(ShardedModel):
    """One edge of one kind between two accounts, as one of the two sides stores it.

    Rows are ended, never deleted. `revision` only grows, so that old changes of an edge can be told
    from new ones.
    """

    follower_id = models.BigIntegerField()
    followee_id = models.BigIntegerField()
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=KINDS, db_default=RelationKind.ACCOUNT.value)
    attribute = models.SmallIntegerField(choices=ATTRIBUTES)
    flags = models.SmallIntegerField(db_default=EdgeFlag.NOTHING.value)

    class Meta:
        abstract = True


class ForwardEdge(EdgeModel):
    """SHARDED by follower_id, ~500 rows an account; written by relations.actions. The truth."""

    owner = "follower_id"

    pk = models.CompositePrimaryKey("follower_id", "kind", "followee_id")
    languages = ArrayField(models.TextField(), null=True)  # NULL: posts of all languages

    class Meta:
        indexes = [
            # following list: newest first, index-only
            models.Index(
                fields=["follower_id", "kind", "-since_ms", "-followee_id"],
                name="forward_follows",
                condition=IS_FOLLOW,
                include=["attribute"],
            ),
            # the accounts that the owner shows on its profile, newest first: few
            models.Index(
                fields=["follower_id", "kind", "-since_ms", "-followee_id"],
                name="forward_endorsed",
                condition=IS_ENDORSED,
                include=["attribute", "flags"],
            ),
            # the owner's quiet follows and blocks, newest first
            models.Index(
                fields=["follower_id", "kind", "attribute", "-since_ms", "-followee_id"],
                name="forward_secrets",
                condition=IS_SECRET,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.follower_id} → {self.followee_id}"


class BackwardEdge(EdgeModel):
    """SHARDED by followee_id, a row a follower; written by mirror_backward_edges. Derived.

    Has the revision of its forward edge: a change with a lower revision is old and is ignored.
    Blocks are mirrored too, so that "does X block me" is answered on my own shard.
    """

    owner = "followee_id"

    pk = models.CompositePrimaryKey("followee_id", "kind", "follower_id")

    class Meta:
        indexes = [
            # followers list, and fan-out's scan of followers, index-only
            models.Index(
                fields=["followee_id", "kind", "-since_ms", "-follower_id"],
                name="backward_follows",
                condition=IS_FOLLOW,
                include=["attribute"],
            ),
            # the owner's quiet followers, newest first: a few among very many followers
            models.Index(
                fields=["followee_id", "kind", "-since_ms", "-follower_id"],
                name="backward_quiet",
                condition=IS_QUIET,
            ),
            # followers who are notified of each post, newest first: mostly few
            models.Index(
                fields=["followee_id", "kind", "-since_ms", "-follower_id"],
                name="backward_notifies",
                condition=IS_NOTIFIED,
            ),
            # the owner's follow requests, newest first
            models.Index(
                fields=["followee_id", "kind", "-since_ms", "-follower_id"],
                name="backward_requests",
                condition=IS_REQUEST,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.followee_id} ← {self.follower_id}"


class Muted(ShardedModel):
    """SHARDED by owner_id, a few rows an account; written by relations.actions.mute.

    Rows are ended, never deleted. `until_ms` 0: the mute has no end.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "kind", "target_id")
    owner_id = models.BigIntegerField()
    target_id = models.BigIntegerField()
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()
    until_ms = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=KINDS, db_default=RelationKind.ACCOUNT.value)
    is_on = models.BooleanField()
    hides_notifications = models.BooleanField()

    class Meta:
        indexes = [
            # the owner's muted accounts, newest first
            models.Index(
                fields=["owner_id", "kind", "-since_ms", "-target_id"],
                name="muted_list",
                condition=models.Q(is_on=True),
                include=["until_ms"],
            )
        ]

    def __str__(self) -> str:
        return f"{self.owner_id} mutes {self.target_id}"


class AccountNote(ShardedModel):
    """SHARDED by owner_id, a few rows an account; written by write_note. Only the owner sees it."""

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "target_id")
    owner_id = models.BigIntegerField()
    target_id = models.BigIntegerField()
    text = models.TextField()

    def __str__(self) -> str:
        return f"{self.owner_id} about {self.target_id}"


class FollowDay(ShardedModel):
    """SHARDED by account_id, one row an account: follows begun on its latest such day (UTC)."""

    owner = "account_id"

    account_id = models.BigIntegerField(primary_key=True)
    day = models.IntegerField()  # days since 1970
    begun = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.account_id}: {self.begun} on day {self.day}"
