"""Notes that the messages of notifications were sent, or given up."""

from collections.abc import Sequence

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.ids import KIND_DIGIT

MARK = """
UPDATE notifications_notification SET is_to_push = false
FROM unnest(%s::smallint[], %s::bigint[]) AS sent (sent_kind, sent_id)
WHERE owner_id = %s AND kind = sent_kind AND id = sent_id AND is_to_push
"""


def mark_pushed(owner_id: int, ids: Sequence[int]) -> None:
    """Safety: idempotent. Cost: one statement."""
    execute(shard_of(owner_id), MARK, ([i % KIND_DIGIT for i in ids], list(ids), owner_id))
