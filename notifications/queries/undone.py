"""Notifications of reposts and favourites that were taken back, perhaps before the drain knows."""

from notifications.queries.rows import ReadRows
from notifications.types import RESPONSE_OF, NotificationKind
from posts.queries.responses import find_live_responses


def with_undone(owner_id: int, read: ReadRows) -> ReadRows:
    """The rows, with the ids of those that were taken back. One query, if there are such kinds."""
    wanted = {
        row.id: (row.post_moment, int(RESPONSE_OF[NotificationKind(row.kind)]), row.from_id)
        for row in read.rows
        if row.kind in RESPONSE_OF
    }
    live = find_live_responses(owner_id, set(wanted.values()))
    return read._replace(
        undone=frozenset(i for i, response in wanted.items() if response not in live)
    )
