"""The ids of the posts on each reader's last page, so that the next page asks for them early.

A reader who comes back sees mostly the same posts. Names and counts of some have changed since, so
their finished entities have ended. The first round trip of the page asks for these names and
counts. Without this, many pages would need a second round trip.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cachebox import LRUCache

from accounts.queries.in_process import has_accounts
from infra.caching.process_memory import most_entries
from posts.cache.in_process import in_process_posts
from posts.ids import PostId, authors_of

MOST_PAGES = most_entries("timelines.last_shown", share=0.02, bytes_each=720)
# Copies of what a page shows end in process memory after half of this time.
RETURN_MS = 60_000


class LastShown(NamedTuple):
    """`originals`: the posts. `events`: the reposts that show some of them. `at_ms`: when."""

    originals: Sequence[PostId]
    events: Sequence[PostId]
    at_ms: int


# By reader and upper cursor: first pages and later ones show other posts.
_last: LRUCache[tuple[int, str | None], LastShown] = LRUCache(MOST_PAGES)


def keep_last_shown(
    reader_id: int,
    below: str | None,
    originals: Iterable[PostId],
    events: Iterable[PostId],
    at_ms: int,
) -> None:
    """Call it for each page that is made. The reader's next page below this cursor is like it."""
    _last[reader_id, below] = LastShown(list(originals), list(events), at_ms)


def is_back(reader_id: int, below: str | None, at_ms: int) -> bool:
    """Whether this process has shown this reader a page below this cursor in the last RETURN_MS."""
    last = _last.get((reader_id, below))
    return last is not None and at_ms - last.at_ms < RETURN_MS


def find_ended(reader_id: int, below: str | None) -> LastShown | None:
    """The posts of the last such page, if process memory lacks the entity or account of one."""
    last = _last.get((reader_id, below))
    if last is None:
        return None
    is_known = in_process_posts.are_finished(last.originals)
    return None if is_known and has_accounts(authors_of(last.events)) else last
