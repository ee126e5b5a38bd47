"""The posts of each reader's last page, so that the next page asks for their counts early.

Names and counts in finished entities are at most a second old. A reader who comes back sees mostly
the same posts, so the first round trip of a page asks for those that ended in the meantime.
Without this, nearly each page would need a second round trip for some of them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cachebox import LRUCache

from accounts.queries.in_process import has_accounts
from posts.cache.in_process import in_process_posts
from posts.ids import PostId, authors_of

# About 400 bytes each.
MOST_READERS = 10_000


class LastShown(NamedTuple):
    """`originals`: the posts. `events`: the reposts that show some of them."""

    originals: Sequence[PostId]
    events: Sequence[PostId]


_by_reader: LRUCache[int, LastShown] = LRUCache(MOST_READERS)


def keep_last_shown(reader_id: int, originals: Iterable[PostId], events: Iterable[PostId]) -> None:
    """Call it for each page that is made: the next one shows mostly the same."""
    _by_reader[reader_id] = LastShown(list(originals), list(events))


def find_due(reader_id: int) -> LastShown | None:
    """The posts of the reader's last page, if process memory lacks the names or counts of one."""
    last = _by_reader.get(reader_id)
    if last is None:
        return None
    is_known = in_process_posts.are_finished(last.originals)
    return None if is_known and has_accounts(authors_of(last.events)) else last
