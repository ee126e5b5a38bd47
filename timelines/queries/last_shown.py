"""The posts of each reader's last page, so that the next page asks for their counts early.

Names and counts in finished entities end when they change. A reader who comes back sees mostly
the same posts, so the first round trip of a page asks for those that ended in the meantime.
Without this, many pages would need a second round trip for some of them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cachebox import LRUCache

from accounts.queries.in_process import has_accounts
from infra.caching.process_memory import most_entries
from posts.cache.in_process import in_process_posts
from posts.ids import PostId, authors_of

MOST_PAGES = most_entries("timelines.last_shown", share=0.02, bytes_each=720)


class LastShown(NamedTuple):
    """`originals`: the posts. `events`: the reposts that show some of them."""

    originals: Sequence[PostId]
    events: Sequence[PostId]


# By reader and upper cursor: first pages and later ones show other posts.
_last: LRUCache[tuple[int, str | None], LastShown] = LRUCache(MOST_PAGES)


def keep_last_shown(
    reader_id: int, below: str | None, originals: Iterable[PostId], events: Iterable[PostId]
) -> None:
    """Call it for each page that is made: the next one below this cursor shows mostly the same."""
    _last[reader_id, below] = LastShown(list(originals), list(events))


def was_shown(reader_id: int, below: str | None) -> bool:
    """Whether this process has shown this reader a page below this cursor lately."""
    return (reader_id, below) in _last


def find_due(reader_id: int, below: str | None) -> LastShown | None:
    """The posts of the last such page, if process memory lacks the names or counts of one."""
    last = _last.get((reader_id, below))
    if last is None:
        return None
    is_known = in_process_posts.are_finished(last.originals)
    return None if is_known and has_accounts(authors_of(last.events)) else last
