"""Home pages in process memory, used again while nothing has changed that they were made of.

Most readers who look for news find none. Their page is known after the first round trip: the reader
has the same validators, the same stored timeline and the same hot authors' entries, and the posts,
names and counts of the page are copies that may still be used.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from xxhash import xxh3_128_digest

from infra.api.pages import KeptPage, Page, Window
from infra.caching.invalidation_log import LogOffset, LogQuestion
from infra.caching.metrics import count_reads
from infra.caching.questions import Question
from infra.caching.short_lived import ShortLived
from infra.caching.viewer_validators import ValidatorsQuestion, ViewerValidators
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.cache.used_copies import UsedCopies
from posts.ids import PostId, authors_of
from posts.queries.hydrate import Hydrated
from relations.queries.in_process_relationships import find_kept_relationships
from timelines.hot.directory import HotAuthors, directory
from timelines.hot.entries import hot_entries
from timelines.queries.last_shown import keep_last_shown
from timelines.queries.plain_pages import PlainPage, PlainRead
from timelines.types import Entry

FAMILY, RENEWED = "timelines.kept_pages", "timelines.renewed_pages"
# About 4 kB each, without the posts. Most of those are in process memory anyway; the texts of posts
# that have changed since are not, up to 2 kB each. So a page goes when its time has ended.
MOST_PAGES = 5_000
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


class _PageCopy(NamedTuple):
    window: Window
    inputs: PageInputs
    copies: UsedCopies
    page: KeptPage
    made_at: PageMoment
    plain: PlainPage | None


# By reader and upper cursor, so that a next page leaves the first page there.
_pages: ShortLived[tuple[int, str | None], _PageCopy] = ShortLived(MOST_PAGES, KEPT_MS)


def find_kept_page(
    reader_id: int, window: Window, inputs: PageInputs, now_ms: int
) -> Page[bytes] | None:
    """The reader's last page, if it was the same window and would be the same page again."""
    kept = _find(reader_id, window, now_ms)
    is_same = kept is not None and kept.inputs == inputs and kept.copies.are_usable
    count_reads(FAMILY, "process", int(is_same), int(not is_same))
    return kept.page if kept is not None and is_same else None


def renew_page(
    read: PlainRead, window: Window, inputs: PageInputs, made_at: PageMoment
) -> KeptPage | None:
    """The reader's last page as it is now, if it was plain and still is (plain_pages.py).

    It is kept until the time of the last page ends, so that one is made as usual then.
    """
    kept = _find(read.reader_id, window, read.now_ms)
    if kept is None or kept.plain is None:
        return None
    is_same = (kept.inputs.validators, kept.inputs.hot) == (inputs.validators, inputs.hot)
    renewed = read.renew(kept.plain, window.limit) if is_same else None
    count_reads(RENEWED, "process", int(renewed is not None), int(renewed is None))
    if renewed is None:
        return None
    plain, copies, page = renewed
    since_ms = kept.made_at.now_ms
    moment, used = made_at._replace(now_ms=since_ms), UsedCopies(copies, {}, {})
    copy = _PageCopy(window, inputs, used, page, moment, plain)
    _pages.put((read.reader_id, window.max_id), copy, since_ms)
    keep_last_shown(read.reader_id, window.max_id, plain.posts, ())
    return page


def _find(reader_id: int, window: Window, now_ms: int) -> _PageCopy | None:
    """The page of this part of the timeline, if it is young enough."""
    kept = _pages.get((reader_id, window.max_id), now_ms)
    return kept if kept is not None and kept.window == window else None


class LikelyPage:
    """A kept page that is the page of this request, unless Redis has something new.

    It asks as little as possible. If it is not the page, `find_kept_page` may still find it.
    """

    def __init__(self, kept: _PageCopy) -> None:
        self._kept = kept

    @classmethod
    def find(cls, reader_id: int, window: Window, now_ms: int) -> Self | None:
        """The reader's last page, if all is in process memory that it was made of. No round trip.

        Otherwise the first round trip of the page has more to ask.
        """
        kept = _find(reader_id, window, now_ms)
        if kept is None or not kept.copies.are_usable:
            return None
        has_hot = hot_entries.find_fresh(kept.made_at.hot_followees) is not None
        return cls(kept) if has_hot else None

    def confirm(
        self, log: LogQuestion, validators: ValidatorsQuestion, stored: Question[Any]
    ) -> Page[bytes] | None:
        """The page, if these are as they were when it was made, and the log has nothing new.

        With other validators it can never be used again, so it is dropped. While it is there, the
        first round trip asks too little to create a validator that is missing.
        """
        kept, inputs = self._kept, self._kept.inputs
        if validators.value != inputs.validators:
            _pages.drop((kept.made_at.reader_id, kept.window.max_id))
            return None
        is_same = (
            log.value is not None
            and log.value == log.since
            and shorten(stored.replies or ()) == inputs.stored
            and self._has_same_hot_entries()
            and kept.copies.are_usable
        )
        if is_same:
            count_reads(FAMILY, "process", 1)
        return kept.page if is_same else None

    def _has_same_hot_entries(self) -> bool:
        """Equal validators of the reader and an equal set of hot authors mean equal followees."""
        made_at = self._kept.made_at
        if directory.cached != made_at.hot_authors:
            return False
        hot = hot_entries.find_fresh(made_at.hot_followees)
        return hot is not None and [one.as_input for one in hot] == self._kept.inputs.hot


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
        kept = _PageCopy(window, inputs, copies, page, made_at, plain)
        _pages.put((made_at.reader_id, window.max_id), kept, made_at.now_ms)


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
