"""Notifies recipients on all shards of what happened."""

from collections.abc import Iterable

from infra import clock
from infra.changes.failpoints import failpoint
from infra.changes.registry import FollowUp
from notifications.actions.write_notifications import by_recipient_shard, write_notifications
from notifications.cache import end_rows
from notifications.changes import NotificationsAdded
from notifications.metrics import ADDED
from notifications.types import Occurrence


def notify(occurrences: Iterable[Occurrence]) -> list[FollowUp]:
    """Returns a follow-up change for each recipient whose devices are to be notified.

    Safety: as `write_notifications`. Cost: one round trip to each recipient's shard.
    """
    now_ms = clock.now_ms()
    follow_ups: list[FollowUp] = []
    for target, group in by_recipient_shard(occurrences).items():
        added = write_notifications(target, group, now_ms)
        ADDED.inc(added.rows)
        failpoint("notifications.recorded")
        end_rows({occurrence.owner_id for occurrence in group})
        follow_ups += [
            FollowUp(owner_id, NotificationsAdded(tuple(ids)))
            for owner_id, ids in added.to_push.items()
        ]
    return follow_ups
