"""Changes an owner's policy, and accepts or dismisses what the policy filtered."""

from collections.abc import Collection, Mapping

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.cache import end_rows_of
from notifications.queries.requests import list_filtered_ids
from notifications.types import Measure, Policy

CHANGE = """
INSERT INTO notifications_inbox (owner_id, {columns}) VALUES (%s{places})
ON CONFLICT (owner_id) DO UPDATE SET {updates}
"""
ACCEPT = """
INSERT INTO notifications_notificationpermission (owner_id, from_id)
SELECT %s, unnest(%s::bigint[]) ON CONFLICT DO NOTHING
"""
DISMISS = """
UPDATE notifications_notification SET is_dismissed = true
WHERE owner_id = %s AND id = ANY(%s::bigint[]) AND is_on AND NOT is_dismissed
"""


def change_policy(owner_id: int, measures: Mapping[str, Measure]) -> None:
    """Sets these measures of the owner's policy. Safety: idempotent. One statement."""
    names = [name for name in Policy._fields if name in measures]
    if not names:
        return
    sql = CHANGE.format(
        columns=", ".join(names),
        places=", %s" * len(names),
        updates=", ".join(f"{name} = excluded.{name}" for name in names),
    )
    execute(shard_of(owner_id), sql, (owner_id, *(int(measures[name]) for name in names)))
    end_rows_of(owner_id)


def accept_requests(owner_id: int, from_ids: Collection[int]) -> None:
    """No policy filters these accounts from now on. Safety: idempotent. One statement."""
    execute(shard_of(owner_id), ACCEPT, (owner_id, list(from_ids)))
    end_rows_of(owner_id)


def dismiss_requests(owner_id: int, from_ids: Collection[int], now_ms: int) -> None:
    """Removes what the policy filters of these accounts; what it shows stays.

    Safety: idempotent. Cost: as `list_filtered_ids` for each account, and one statement.
    """
    ids = [i for from_id in from_ids for i in list_filtered_ids(owner_id, from_id, now_ms)]
    if ids:
        execute(shard_of(owner_id), DISMISS, (owner_id, ids))
        end_rows_of(owner_id)
