"""Ids of notifications: numbers that grow in the order in which notifications of an owner arrive.

    id         tick * 10 + kind      unique among the notifications of one owner
    tick       at least milliseconds * 100, and always more than the owner's last one
    example    a favourite (4) that arrived at 1,800,000,000,000 ms: 1800000000000004

Clients ask for what is newer than the last id that they know. So the order is that of arrival: a
notification that is delivered late is new. The last digit says in which part of the index it is.
"""

from notifications.types import NotificationKind

KIND_DIGIT = 10
TICKS_A_MS = 100
IDS_A_MS = KIND_DIGIT * TICKS_A_MS
MAX_ID = 2**63 - 2


def first_id(at_ms: int) -> int:
    """Lower than every id that begins at this time."""
    return at_ms * IDS_A_MS


def last_id_of(tick: int) -> int:
    """Not below any id of this tick."""
    return (tick + 1) * KIND_DIGIT - 1


def kind_of(notification_id: int) -> NotificationKind | None:
    """The kind in the last digit; None if no notification can have this id."""
    if not 0 < notification_id <= MAX_ID:
        return None
    try:
        return NotificationKind(notification_id % KIND_DIGIT)
    except ValueError:
        return None
