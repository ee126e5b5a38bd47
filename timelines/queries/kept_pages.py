"""Home pages in process memory, used again while nothing has changed that they were made of.

Most readers who look for news find none. Their page is known after the first round trip: the reader
has the same validators, the same stored timeline and the same hot authors' entries, and all posts
of the page are finished copies that may be used as they are. Only pages of such posts are kept: the
rules that look at a clock, and posts below the live timeline, need more than that.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from cachebox import LRUCache

from infra.api.pages import Page, Window
from infra.caching.metrics import count_reads
from infra.caching.viewer_validators import ViewerValidators
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts

FAMILY = "timelines.kept_pages"
# About 10 kB each: the stored timeline. The posts are in process memory anyway.
MOST_READERS = 2_000
# A page does more than to answer: it cuts old entries and asks for repairs. It does so this often.
KEPT_MS = 5_000


class PageInputs(NamedTuple):
    """What a page is made of, except its posts.

    `stored`: Redis' reply with the live timeline. `hot`: entries of each hot author that the reader
    follows, and since when they are complete.
    """

    validators: ViewerValidators
    stored: Sequence[Any]
    hot: Sequence[tuple[Sequence[bytes], int]]


class _KeptPage(NamedTuple):
    window: Window
    inputs: PageInputs
    copies: Collection[PostCopy]
    page: Page[bytes]
    made_at_ms: int


_pages: LRUCache[int, _KeptPage] = LRUCache(MOST_READERS)


def find_kept_page(
    reader_id: int, window: Window, inputs: PageInputs, now_ms: int
) -> Page[bytes] | None:
    """The reader's last page, if it was the same window and would be the same page again."""
    kept = _pages.get(reader_id)
    is_same = (
        kept is not None
        and 0 <= now_ms - kept.made_at_ms < KEPT_MS
        and kept.window == window
        and kept.inputs == inputs
        and in_process_posts.are_fresh(kept.copies)
    )
    count_reads(FAMILY, "process", int(is_same), int(not is_same))
    return kept.page if kept is not None and is_same else None


def keep_page(
    reader_id: int,
    window: Window,
    inputs: PageInputs,
    copies: Collection[PostCopy],
    page: Page[bytes],
    now_ms: int,
) -> None:
    """`copies`: all posts of the page, and the next one if it has a next page."""
    _pages[reader_id] = _KeptPage(window, inputs, copies, page, now_ms)
