"""Home pages in process memory, used again while nothing has changed that they were made of.

Most readers who look for news find none. Their page is known after the first round trip: the reader
has the same validators, the same stored timeline and the same hot authors' entries, and the posts,
names and counts of the page are copies that may still be used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cachebox import LRUCache

from infra.api.pages import Page, Window
from infra.caching.invalidation_log import LogOffset
from infra.caching.metrics import count_reads
from infra.caching.viewer_validators import ViewerValidators
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.cache.used_copies import UsedCopies
from posts.ids import PostId, authors_of
from posts.queries.hydrate import Hydrated
from relations.queries.in_process_relationships import find_kept_relationships
from timelines.types import Entry

FAMILY = "timelines.kept_pages"
# About 10 kB each: the stored timeline. The posts are in process memory anyway.
MOST_READERS = 2_000
# A page does more than to answer: it cuts old entries and asks for repairs. It does so this often.
KEPT_MS = 5_000


class PageMoment(NamedTuple):
    """Whose page it is, and when it was made, by the clock and by the invalidation log."""

    reader_id: int
    now_ms: int
    offset: LogOffset | None


class PageInputs(NamedTuple):
    """What a page is made of, except its posts.

    `stored`: Redis' reply with the live timeline. `hot`: entries of each hot author that the reader
    follows, and since when they are complete.
    """

    validators: ViewerValidators
    stored: Sequence[Any]
    hot: Sequence[tuple[Sequence[bytes], int]]


class PageParts:
    """What a page is made of, apart from its inputs. It is gathered while the page is made.

    `statuses`: entities of the posts, shown or not, without the viewer's flags. `reposts`: events
    that show some of them. `reposters`: Account JSON of their authors. `is_whole`: everything was
    there.
    """

    def __init__(self) -> None:
        self.statuses: dict[PostId, bytes] = {}
        self.reposts: list[PostId] = []
        self.reposters: dict[int, bytes] = {}
        self.is_whole = True

    def add(
        self, sources: Sequence[Entry], ready: Mapping[PostId, PostCopy], hydrated: Hydrated
    ) -> None:
        """`sources`: entries that were looked at. Their posts are finished copies, or hydrated."""
        self.statuses |= {i: copy.text for i, copy in ready.items()}
        if len(ready) == len(sources):
            return
        for event, original in sources:
            if original not in ready:
                self._add(event, original, hydrated)

    def _add(self, event: PostId, original: PostId, hydrated: Hydrated) -> None:
        status = hydrated.statuses.get(original)
        by = hydrated.accounts.get(event.author_id)
        if status is None or by is None:
            self.is_whole = False
            return
        self.statuses[original] = status
        if event != original:
            self.reposts.append(event)
            self.reposters[event.author_id] = by


class _KeptPage(NamedTuple):
    window: Window
    inputs: PageInputs
    copies: UsedCopies
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
        and kept.copies.are_usable
    )
    count_reads(FAMILY, "process", int(is_same), int(not is_same))
    return kept.page if kept is not None and is_same else None


def keep_page(
    window: Window,
    inputs: PageInputs,
    parts: PageParts,
    page: Page[bytes],
    made_at: PageMoment,
) -> None:
    """Keeps a page, if all that it was made of are copies, and nothing of it ends by the clock."""
    copies = UsedCopies(
        in_process_posts.find_finished(parts.statuses, made_at.offset),
        in_process_posts.find_copies(parts.reposts, made_at.offset),
        parts.reposters,
    )
    if (
        _are_all(copies, parts)
        and copies.are_usable
        and not _has_mute_that_ends(made_at.reader_id, inputs, copies)
    ):
        _pages[made_at.reader_id] = _KeptPage(window, inputs, copies, page, made_at.now_ms)


def _are_all(copies: UsedCopies, parts: PageParts) -> bool:
    """Whether these copies are what the page was made of."""
    posts = copies.finished
    return (
        len(posts) == len(parts.statuses)
        and all(posts[i].text is text for i, text in parts.statuses.items())
        and len(copies.reposts) == len(set(parts.reposts))
    )


def _has_mute_that_ends(reader_id: int, inputs: PageInputs, copies: UsedCopies) -> bool:
    """Whether one of the authors is muted until some time, or is not known."""
    known = find_kept_relationships(reader_id, inputs.validators.relationships)
    if known is None:
        return True
    authors = authors_of((*copies.finished, *copies.reposts)) - known.clear_follows - {reader_id}
    found = [known.by_account.get(author) for author in authors]
    return any(one is None or one.muted_until_ms for one in found)
