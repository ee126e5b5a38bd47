"""Kept pages: home pages in process memory, used again while nothing that they show has changed.

Most readers who look for news find none. The first round trip then says that the page is the same:
the reader has the same validators, the same stored timeline and the same hot authors' entries. The
posts, names and counts on the page must be copies that may still be used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xxhash import xxh3_128_digest

from infra.api.pages import Page, ReusablePage, Window
from infra.caching.invalidation_log import LogOffset
from infra.caching.metrics import count_reads
from infra.caching.process_memory import most_entries
from infra.caching.short_lived import ShortLived
from infra.caching.viewer_validators import ViewerValidators
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.cache.used_copies import UsedCopies
from posts.ids import PostId, authors_of
from posts.queries.hydrate import Hydrated
from relations.queries.in_process_relationships import find_kept_relationships
from timelines.hot.directory import HotAuthors
from timelines.queries.plain_pages import PlainPage, PlainRead
from timelines.types import Entry

FAMILY = "timelines.kept_pages"
# The size is without the posts, because most are in process memory anyway. Posts that have changed
# since are not: a page has their old texts, up to 2 kB each. So it is dropped after KEPT_MS.
MOST_PAGES = most_entries(FAMILY, share=0.12, bytes_each=4_000)
# A page that is made as usual also cuts old entries and requests repairs. So one is made as often
# as this.
KEPT_MS = 30_000


class PageMoment(NamedTuple):
    """The reader of a page, and the moment at which it was made.

    `offset`: of the invalidation log. `hot_authors`: all hot authors. `hot_followees`: those among
    them that the reader followed.
    """

    reader_id: int
    now_ms: int
    offset: LogOffset | None
    hot_authors: HotAuthors
    hot_followees: Sequence[int]


# The entries of a hot author, and since when they are complete.
HotInput = tuple[Sequence[bytes], int]


class PageInputs(NamedTuple):
    """What a page is made of, except its posts. Equal inputs give equal pages of the same posts.

    `stored`: Redis' replies with the live timeline, by `shorten`. `hot`: of each hot followee.
    """

    validators: ViewerValidators
    stored: Sequence[Any]
    hot: Sequence[HotInput]


def shorten(replies: Sequence[Any]) -> Sequence[Any]:
    """The replies, with hashes in place of texts: equal for equal replies.

    A stored timeline would take more memory than the rest of a kept page.
    """
    return [xxh3_128_digest(one) if isinstance(one, bytes) else one for one in replies]


class PageParts:
    """The posts and accounts that a page is made of, shown or not. Collected while it is made.

    `finished`: copies of posts that were finished before. `statuses`: entities of the other posts,
    without the viewer's flags. `reposts`: events that show some of these posts. `reposters`:
    Account JSON of their authors. `is_whole`: no post or account was missing.
    """

    def __init__(self) -> None:
        self.finished: dict[PostId, PostCopy] = {}
        self.statuses: dict[PostId, bytes] = {}
        self.reposts: list[PostId] = []
        self.reposters: dict[int, bytes] = {}
        self.is_whole = True

    @property
    def originals(self) -> list[PostId]:
        """All posts, without the events."""
        return [*self.finished, *self.statuses]

    def add(
        self, sources: Sequence[Entry], ready: Mapping[PostId, PostCopy], hydrated: Hydrated
    ) -> None:
        """`sources`: entries that the page looked at. `ready`: finished copies of their posts.

        `hydrated`: the posts that are not ready.
        """
        self.finished |= ready
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


class KeptPage(NamedTuple):
    """A page and what it was made of. `plain`: how to make it again; None if it is not plain."""

    window: Window
    inputs: PageInputs
    copies: UsedCopies
    page: ReusablePage
    made_at: PageMoment
    plain: PlainPage | None


# By reader and upper cursor: a next page does not replace the first page.
_pages: ShortLived[tuple[int, str | None], KeptPage] = ShortLived(MOST_PAGES, KEPT_MS)


def find_same_page(
    reader_id: int, window: Window, inputs: PageInputs, now_ms: int
) -> Page[bytes] | None:
    """The reader's last page of this window, if it would be the same again from these inputs."""
    kept = find_kept_page(reader_id, window, now_ms)
    is_same = kept is not None and kept.inputs == inputs and kept.copies.are_usable
    count_reads(FAMILY, "process", int(is_same), int(not is_same))
    return kept.page if kept is not None and is_same else None


def find_kept_page(reader_id: int, window: Window, now_ms: int) -> KeptPage | None:
    """The reader's last page of this window, if it is young enough. It may be outdated."""
    kept = _pages.get((reader_id, window.max_id), now_ms)
    return kept if kept is not None and kept.window == window else None


def store_kept_page(kept: KeptPage) -> None:
    """Keeps the page for KEPT_MS after the time in `made_at`."""
    _pages.put((kept.made_at.reader_id, kept.window.max_id), kept, kept.made_at.now_ms)


def drop_kept_page(kept: KeptPage) -> None:
    _pages.drop((kept.made_at.reader_id, kept.window.max_id))


def keep_page(
    window: Window,
    inputs: PageInputs,
    parts: PageParts,
    page: ReusablePage,
    made_at: PageMoment,
    read: PlainRead | None,
) -> None:
    """Keeps a page, if it was made of copies only, and no mute on it ends by the clock.

    `read`: tells whether the page is plain. None: that cannot be known.
    """
    others = in_process_posts.find_finished(parts.statuses, made_at.offset)
    copies = UsedCopies(
        parts.finished | others,
        in_process_posts.find_copies(parts.reposts, made_at.offset),
        parts.reposters,
    )
    if (
        _have_statuses(others, parts.statuses)
        and len(copies.reposts) == len(set(parts.reposts))
        and copies.are_usable
        and not _has_mute_that_ends(made_at.reader_id, inputs, copies)
    ):
        plain = None
        if read is not None and not parts.reposts:
            plain = read.find_plain(parts.originals, window)
        store_kept_page(KeptPage(window, inputs, copies, page, made_at, plain))


def _have_statuses(posts: Mapping[PostId, PostCopy], statuses: Mapping[PostId, bytes]) -> bool:
    """Whether the copies have exactly these entities: another thread may have replaced a copy."""
    return len(posts) == len(statuses) and all(posts[i].text is s for i, s in statuses.items())


def _has_mute_that_ends(reader_id: int, inputs: PageInputs, copies: UsedCopies) -> bool:
    """Whether one of the authors is muted until some time, or is not known."""
    known = find_kept_relationships(reader_id, inputs.validators.relationships)
    if known is None:
        return True
    authors = authors_of((*copies.finished, *copies.reposts)) - known.clear_follows - {reader_id}
    found = [known.by_account.get(author) for author in authors]
    return any(one is None or one.muted_until_ms for one in found)
