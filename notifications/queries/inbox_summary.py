"""What a shard has of one owner's inbox, for operators."""

from typing import NamedTuple

from infra.sharding.sql import fetch_one

SUMMARY = """
SELECT newest_tick, cleared_id, floor_ms, crowd_floor_ms FROM notifications_inbox
WHERE owner_id = %s
"""


class InboxSummary(NamedTuple):
    """As the columns of Inbox."""

    newest_tick: int = 0
    cleared_id: int = 0
    floor_ms: int = 0
    crowd_floor_ms: int = 0


def read_inbox_summary(alias: str, owner_id: int) -> InboxSummary:
    """Zeros without an inbox. One query by key."""
    row = fetch_one(alias, SUMMARY, (owner_id,))
    return InboxSummary(*row) if row else InboxSummary()
