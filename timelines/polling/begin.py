"""Begins a poll: finds the late posts for a client, before the page itself is read."""

from collections.abc import Callable

from infra.api.pages import Window
from infra.shared_thread import need_own_thread
from posts.ids import PostId
from timelines.polling.poll import Poll
from timelines.polling.records import Poller, load_records
from timelines.polling.types import LatePosts
from timelines.queries.cursors import range_of

# The late posts of a cursor, after a floor (or None).
LoadLate = Callable[[PostId, int | None], LatePosts]


def is_poll(client: str | None, window: Window) -> bool:
    """Whether the client asks for posts above the newest one that it has seen."""
    has_lower = bool(window.min_id or window.since_id)
    return has_lower and client is not None and not window.is_gap


def begin_poll(poller: Poller, window: Window, at_ms: int, load_late: LoadLate) -> Poll | None:
    """None if this is no poll. Call it before the entries of the page are read.

    Raises: InvalidCursor. Cost: one round trip, and what `load_late` costs.
    """
    if not is_poll(poller.client, window):
        return None
    need_own_thread()  # polls read shards
    (cursor, below), records = range_of(window), load_records(poller)
    record = records.get(cursor)
    late = load_late(cursor, record.floor if record else None)
    return Poll(poller, cursor, below, records, late, at_ms)
