"""Deletes rows of an owner whose account is purged. Each is one statement, and idempotent."""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

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
