"""Ids of notifications: numbers that grow in the order in which notifications of an owner arrive.

    id         tick * 10 + digit     unique among the notifications of one owner
    tick       at least milliseconds * 100, and always more than the owner's last one
    digit      the kind; 4 for a declared reaction, of which the favourite is the first
    example    a favourite (4) that arrived at 1,800,000,000,000 ms: 1800000000000004

Clients ask for what is newer than the last id that they know. So the order is that of arrival: a
notification that is delivered late is new. The last digit says in which parts of the index it may
be: one, or those of the favourite and of the declared reactions. It orders nothing, because no two
ids of an owner have one tick.
"""

from collections.abc import Sequence

from notifications.types import STORED_KINDS, NotificationKind

KIND_DIGIT = 10
TICKS_A_MS = 100
IDS_A_MS = KIND_DIGIT * TICKS_A_MS
MAX_ID = 2**63 - 2
STORED_KINDS_BY_DIGIT = {kind.value: kind for kind in STORED_KINDS}


def first_id(at_ms: int) -> int:
    """Lower than every id that begins at this time."""
    return at_ms * IDS_A_MS


def last_id_of(tick: int) -> int:
    """Not below any id of this tick."""
    return (tick + 1) * KIND_DIGIT - 1


def id_of(tick: int, kind: int) -> int:
    """The id of a notification of this kind. notifications/functions.sql has the same."""
    digit = kind if kind < KIND_DIGIT else NotificationKind.FAVOURITE
    return tick * KIND_DIGIT + digit


def kinds_of(notification_id: int) -> Sequence[NotificationKind]:
    """The kinds that a notification with this id may have, the one of the digit first. Empty: there
    can be none."""
    if not 0 < notification_id <= MAX_ID:
        return ()
    kind = STORED_KINDS_BY_DIGIT[notification_id % KIND_DIGIT]
    return (kind, NotificationKind.REACTION) if kind is NotificationKind.FAVOURITE else (kind,)
