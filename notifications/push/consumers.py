"""The consumer that sends Web Push."""

from collections.abc import Sequence

from django.conf import settings

from infra import clock
from infra.changes.registry import Delivery, consumes
from notifications.changes import NotificationsAdded
from notifications.push.actions import push_all


@consumes(NotificationsAdded)
def push_notifications(alias: str, deliveries: Sequence[Delivery[NotificationsAdded]]) -> None:
    """Pushes new notifications to the devices of their owners.

    It runs in a lane of its own, which slow push services may delay. Safety: as `push_all`.
    """
    if settings.VAPID_PRIVATE_KEY:
        push_all(
            [(delivery.owner_id, delivery.payload.ids) for delivery in deliveries], clock.now_ms()
        )
