"""Removes notifications from an owner's list, at the owner's wish.

Deletes rows of an owner whose account is purged. Each is one statement, and idempotent.
"""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.cache import end_rows_of
from notifications.groups import GroupKey
from notifications.ids import MAX_ID

CLEAR = """
UPDATE notifications_inbox SET cleared_id = greatest(cleared_id, newest_tick * 10 + 9)
WHERE owner_id = %s
"""
DISMISS = """
UPDATE notifications_notification SET is_dismissed = true
WHERE owner_id = %s AND id = %s AND is_on AND NOT is_dismissed
"""
DISMISS_GROUP = """
UPDATE notifications_notification SET is_dismissed = true
WHERE owner_id = %s AND kind = %s AND id > %s AND id < %s
    AND post_author = %s AND post_moment = %s AND is_on AND NOT is_dismissed
"""


def clear(owner_id: int) -> None:
    """Removes all notifications that the owner has. Safety: idempotent. Cost: one statement.

    The rows stay until they are old, so that a late change cannot bring one back.
    """
    execute(shard_of(owner_id), CLEAR, (owner_id,))
    end_rows_of(owner_id)


def dismiss_notification(owner_id: int, notification_id: int) -> bool:
    """Removes one notification. False: the owner has no such notification. One statement."""
    if notification_id > MAX_ID:
        return False
    dismissed = execute(shard_of(owner_id), DISMISS, (owner_id, notification_id))
    end_rows_of(owner_id)
    return bool(dismissed)


def dismiss_group(owner_id: int, key: GroupKey) -> None:
    """Removes the notifications of a group. Safety: idempotent. One statement."""
    if key.is_single:
        dismiss_notification(owner_id, key.number)
        return
    post = (key.post_id.author_id, key.post_id.moment) if key.post_id else (0, 0)
    bounds = (owner_id, int(key.kind), key.ids.above, key.ids.below)
    execute(shard_of(owner_id), DISMISS_GROUP, (*bounds, *post))
    end_rows_of(owner_id)


NOTIFICATION = """
DELETE FROM notifications_notification
WHERE owner_id = %s AND from_id = %s AND kind = %s AND post_moment = %s AND post_author = %s
"""
PERMISSION = """
DELETE FROM notifications_notificationpermission WHERE owner_id = %s AND from_id = %s
"""
INBOX = "DELETE FROM notifications_inbox WHERE owner_id = %s"


def delete_notification(*key: int) -> None:
    """`key`: as the primary key of the table."""
    execute(shard_of(key[0]), NOTIFICATION, key)


def delete_permission(owner_id: int, from_id: int) -> None:
    """The policy holds for this account again."""
    execute(shard_of(owner_id), PERMISSION, (owner_id, from_id))


def delete_inbox(owner_id: int) -> None:
    """The policy and the positions of an owner without notifications."""
    execute(shard_of(owner_id), INBOX, (owner_id,))
