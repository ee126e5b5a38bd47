"""Tables of notifications. All are sharded by the recipient."""

from django.db import models

from infra.sharding.models import ShardedModel
from notifications.types import STORED_KINDS, Measure, NotificationKind

NOTIFICATION_KINDS = [(kind.value, kind.name) for kind in STORED_KINDS]
MEASURES = [(measure.value, measure.name) for measure in Measure]
ACCEPT, FILTER = Measure.ACCEPT.value, Measure.FILTER.value


class Notification(ShardedModel):
    """SHARDED by owner_id, at most NOTIFICATIONS_KEPT rows an account; derived by the consumers.

    The key is what happened, so a replay cannot add a second row. `revision` is that of the source:
    a write with a lower one changes nothing. What was undone stays with `is_on` false, and what the
    owner dismissed with `is_dismissed`, so that a late change cannot bring it back. `is_to_push`:
    its messages were not sent yet. `id` is in notifications/ids.py. Of a warning, `post_moment` is
    the number of the moderators' decision, and there is no `post_author`.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "from_id", "kind", "post_moment", "post_author")
    owner_id = models.BigIntegerField()
    from_id = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=NOTIFICATION_KINDS)
    post_moment = models.BigIntegerField()
    post_author = models.BigIntegerField()
    id = models.BigIntegerField()
    at_ms = models.BigIntegerField()
    revision = models.BigIntegerField()
    is_on = models.BooleanField()
    is_dismissed = models.BooleanField(db_default=False)
    is_to_push = models.BooleanField(db_default=False)

    class Meta:
        indexes = [
            # the list: each wanted kind newest first, merged, index-only; one notification by id
            models.Index(
                fields=["owner_id", "kind", "-id"],
                name="notification_list",
                condition=models.Q(is_on=True, is_dismissed=False),
                include=["from_id", "post_author", "post_moment", "at_ms"],
            ),
            # the rate of a kind, the oldest rows, and all rows of an owner
            models.Index(fields=["owner_id", "id"], name="notification_age"),
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}: {NotificationKind(self.kind).public} of {self.from_id}"


class Inbox(ShardedModel):
    """SHARDED by owner_id, one row an account with notifications. Its row orders all writes.

    `newest_tick`: of the last id that was given out. `cleared_id`: the owner cleared the list up to
    here. `floor_ms`: older events were deleted and are not added again; `crowd_floor_ms`: the same
    for follows, favourites and reposts, of which some were left out. `imported_ms`: what imports
    brought is not newer, so no job looks for what is missing up to here. The other columns are the
    owner's policy: what becomes of notifications of accounts that the owner may not know.
    """

    owner = "owner_id"

    owner_id = models.BigIntegerField(primary_key=True)
    newest_tick = models.BigIntegerField(db_default=0)
    cleared_id = models.BigIntegerField(db_default=0)
    floor_ms = models.BigIntegerField(db_default=0)
    crowd_floor_ms = models.BigIntegerField(db_default=0)
    imported_ms = models.BigIntegerField(db_default=0)
    for_not_following = models.SmallIntegerField(choices=MEASURES, db_default=ACCEPT)
    for_not_followers = models.SmallIntegerField(choices=MEASURES, db_default=ACCEPT)
    for_new_accounts = models.SmallIntegerField(choices=MEASURES, db_default=ACCEPT)
    for_private_mentions = models.SmallIntegerField(choices=MEASURES, db_default=FILTER)
    for_limited_accounts = models.SmallIntegerField(choices=MEASURES, db_default=FILTER)

    def __str__(self) -> str:
        return f"{self.owner_id}: up to {self.newest_tick}"


class NotificationPermission(ShardedModel):
    """SHARDED by owner_id, a few rows an account: accounts whose notifications are not filtered."""

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "from_id")
    owner_id = models.BigIntegerField()
    from_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.owner_id} accepts notifications of {self.from_id}"
