"""Home pages in process memory, used again while nothing has changed that they were made of.

Most readers who look for news find none. Their page is known after the first round trip: the reader
has the same validators, the same stored timeline and the same hot authors' entries, and the posts,
names and counts of the page are copies that may still be used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xxhash import xxh3_128_digest

from infra.api.pages import KeptPage, Page, Window
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
# Without the posts. Most are in process memory anyway; the texts of posts that have changed
# since are not, up to 2 kB each. So a page goes when its time has ended.
MOST_PAGES = most_entries(FAMILY, share=0.12, bytes_each=4_000)
# A page does more than to answer: it cuts old entries and asks for repairs. It does so this often.
KEPT_MS = 30_000


class PageMoment(NamedTuple):
    """Whose page it is, and when it was made, by the clock and by the invalidation log.

    `hot_authors`: all of them at that moment. `hot_followees`: those that the reader followed.
    """

    reader_id: int
    now_ms: int
    offset: LogOffset | None
    hot_authors: HotAuthors
    hot_followees: Sequence[int]


# The entries of a hot author, and since when they are complete.
HotInput = tuple[Sequence[bytes], int]


class PageInputs(NamedTuple):
    """What a page is made of, except its posts.

    `stored`: Redis' replies with the live timeline, by `shorten`. `hot`: entries of each hot author
    that the reader follows, and since when they are complete.
    """

    validators: ViewerValidators
    stored: Sequence[Any]
    hot: Sequence[HotInput]


def shorten(replies: Sequence[Any]) -> Sequence[Any]:
    """Equal for equal replies: a long text is replaced by its hash, because a whole stored timeline
    takes more memory than the rest of a kept page."""
    return [xxh3_128_digest(one) if isinstance(one, bytes) else one for one in replies]


class PageParts:
    """What a page is made of, apart from its inputs. It is gathered while the page is made.

    `finished`: copies of the posts, shown or not, that were finished before. `statuses`: entities
    of the others, without the viewer's flags. `reposts`: events that show some of the posts.
    `reposters`: Account JSON of their authors. `is_whole`: everything was there.
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
        """`sources`: entries that were looked at. Their posts are finished copies, or hydrated."""
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


class PageCopy(NamedTuple):
    """A page and what it was made of. `plain`: what is needed to make it again, if it is plain."""

    window: Window
    inputs: PageInputs
    copies: UsedCopies
    page: KeptPage
    made_at: PageMoment
    plain: PlainPage | None


# By reader and upper cursor, so that a next page leaves the first page there.
_pages: ShortLived[tuple[int, str | None], PageCopy] = ShortLived(MOST_PAGES, KEPT_MS)


def find_kept_page(
    reader_id: int, window: Window, inputs: PageInputs, now_ms: int
) -> Page[bytes] | None:
    """The reader's last page, if it was the same window and would be the same page again."""
    kept = find_copy(reader_id, window, now_ms)
    is_same = kept is not None and kept.inputs == inputs and kept.copies.are_usable
    count_reads(FAMILY, "process", int(is_same), int(not is_same))
    return kept.page if kept is not None and is_same else None


def find_copy(reader_id: int, window: Window, now_ms: int) -> PageCopy | None:
    """The page of this part of the timeline, if it is young enough. It may be outdated."""
    kept = _pages.get((reader_id, window.max_id), now_ms)
    return kept if kept is not None and kept.window == window else None


def put_copy(kept: PageCopy) -> None:
    """Keeps the page for KEPT_MS after the time in `made_at`."""
    _pages.put((kept.made_at.reader_id, kept.window.max_id), kept, kept.made_at.now_ms)


def drop_copy(kept: PageCopy) -> None:
    _pages.drop((kept.made_at.reader_id, kept.window.max_id))


def keep_page(
    window: Window,
    inputs: PageInputs,
    parts: PageParts,
    page: KeptPage,
    made_at: PageMoment,
    read: PlainRead | None,
) -> None:
    """Keeps a page, if all that it was made of are copies, and nothing of it ends by the clock.

    `read`: says whether it is a plain page.
    """
    others = in_process_posts.find_finished(parts.statuses, made_at.offset)
    copies = UsedCopies(
        parts.finished | others,
        in_process_posts.find_copies(parts.reposts, made_at.offset),
        parts.reposters,
    )
    if (
        _are_what_was_shown(others, parts)
        and len(copies.reposts) == len(set(parts.reposts))
        and copies.are_usable
        and not _has_mute_that_ends(made_at.reader_id, inputs, copies)
    ):
        plain = None
        if read is not None and not parts.reposts:
            plain = read.find_plain(parts.originals, window)
        put_copy(PageCopy(window, inputs, copies, page, made_at, plain))


def _are_what_was_shown(posts: Mapping[PostId, PostCopy], parts: PageParts) -> bool:
    """Whether these are the copies of the statuses that the page was made of."""
    return len(posts) == len(parts.statuses) and all(
        posts[i].text is text for i, text in parts.statuses.items()
    )


def _has_mute_that_ends(reader_id: int, inputs: PageInputs, copies: UsedCopies) -> bool:
    """Whether one of the authors is muted until some time, or is not known."""
    known = find_kept_relationships(reader_id, inputs.validators.relationships)
    if known is None:
        return True
    authors = authors_of((*copies.finished, *copies.reposts)) - known.clear_follows - {reader_id}
    found = [known.by_account.get(author) for author in authors]
    return any(one is None or one.muted_until_ms for one in found)
