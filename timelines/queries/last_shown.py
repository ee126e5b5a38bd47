"""The posts of each reader's last page, so that the next page asks for their counts early.

Names and counts in finished entities are at most a second old. A reader who comes back sees mostly
the same posts, so the first round trip of a page asks for those that ended in the meantime.
Without this, nearly each page would need a second round trip for some of them.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from cachebox import LRUCache

from posts.ids import PostId
from timelines.types import Entry, reposts_among

# As long as entities last (posts.cache.counts.COUNTS_S): earlier there is little to ask.
DUE_S = 1.0
# About 400 bytes each.
MOST_READERS = 10_000


class LastShown(NamedTuple):
    """`originals`: the posts. `events`: the reposts that show some of them."""

    originals: Sequence[PostId]
    events: Sequence[PostId]
    at_s: float


_by_reader: LRUCache[int, LastShown] = LRUCache(MOST_READERS)


def keep_last_shown(reader_id: int, entries: Sequence[Entry]) -> None:
    """Call it for a page that was not ready in process memory: other pages show the same again."""
    originals = [entry.original for entry in entries]
    events = [event for event, _ in reposts_among(entries)]
    _by_reader[reader_id] = LastShown(originals, events, time.monotonic())


def take_due(reader_id: int) -> LastShown | None:
    """The posts of the reader's last page, at most once in DUE_S."""
    last, now = _by_reader.get(reader_id), time.monotonic()
    if last is None or now - last.at_s < DUE_S:
        return None
    _by_reader[reader_id] = last._replace(at_s=now)
    return last
