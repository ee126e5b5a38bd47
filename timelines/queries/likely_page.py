"""The likely page of a request: the reader's last page, which this process has kept.

The first round trip asks only what confirms that the page is still the same. A plain page
(plain_pages.py) is also likely if posts have arrived or counts have changed: it is made again from
its ids.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from infra.api.pages import ReusablePage, Window
from infra.caching.invalidation_log import LogOffset, LogQuestion
from infra.caching.metrics import count_reads
from infra.caching.questions import Question
from infra.caching.viewer_validators import ValidatorsQuestion
from posts.cache.used_copies import UsedCopies
from posts.cache.viewer_state import has_kept_state
from timelines.hot.directory import directory
from timelines.hot.entries import HotEntries, hot_entries
from timelines.queries.kept_pages import (
    FAMILY,
    KeptPage,
    drop_kept_page,
    find_kept_page,
    shorten,
    store_kept_page,
)
from timelines.queries.last_shown import keep_last_shown
from timelines.queries.plain_pages import PlainPage, PlainRead
from timelines.types import LiveTimeline

RENEWED = "timelines.renewed_pages"


class LikelyPage(NamedTuple):
    """`is_usable`: before the round trip, process memory has all that the page was made of."""

    kept: KeptPage
    is_usable: bool
    now_ms: int

    @classmethod
    def find(cls, reader_id: int, window: Window, now_ms: int) -> Self | None:
        """The reader's last page, if it is usable, or plain. No round trip."""
        kept = find_kept_page(reader_id, window, now_ms)
        if kept is None:
            return None
        is_usable = kept.copies.are_usable
        # If one of these is missing, process memory was lost: the page would need more round trips.
        may_renew = kept.plain is not None and has_kept_state(reader_id) and directory.cached
        return cls(kept, is_usable, now_ms) if is_usable or may_renew else None

    @property
    def hot_followees(self) -> Sequence[int]:
        return self.kept.made_at.hot_followees

    def confirm(
        self,
        log: LogQuestion,
        validators: ValidatorsQuestion,
        stored: Question[LiveTimeline | None],
        just_read: Question[Mapping[int, HotEntries]],
    ) -> ReusablePage | None:
        """The page of this request, after the round trip with these questions.

        None: make it as usual. `just_read`: entries of the hot followees. A page that was made with
        other validators is dropped: it cannot be used again. And as long as there is a likely page,
        the first round trip asks too little to create a missing validator. Cost: one more round
        trip for new posts that this process does not have.
        """
        inputs = self.kept.inputs
        if validators.value != inputs.validators:
            drop_kept_page(self.kept)
            return None
        if log.value is None or not self._has_same_hot_entries(just_read.value):
            return None
        replies = shorten(stored.replies or ())
        if replies == inputs.stored and self.kept.copies.are_usable:
            count_reads(FAMILY, "process", 1)
            return self.kept.page
        return self._renew(log.value, stored.value, replies)

    def _has_same_hot_entries(self, just_read: Mapping[int, HotEntries]) -> bool:
        """Equal validators of the reader and an equal set of hot authors mean equal followees."""
        made_at = self.kept.made_at
        if directory.cached != made_at.hot_authors:
            return False
        hot = hot_entries.find_fresh(made_at.hot_followees, just_read)
        return hot is not None and [one.as_input for one in hot] == self.kept.inputs.hot

    def _renew(
        self, offset: LogOffset, live: LiveTimeline | None, replies: Sequence[Any]
    ) -> ReusablePage | None:
        plain, reader = self.kept.plain, self.kept.made_at.reader_id
        read = PlainRead.find(reader, self.now_ms, self.kept.inputs.validators, live, offset)
        if plain is None or read is None:
            return None
        renewed = read.renew(plain, self.kept.window.limit)
        count_reads(RENEWED, "process", int(renewed is not None), int(renewed is None))
        if renewed is None:
            return None
        plain, copies, page = renewed
        self._keep(offset, replies, plain, UsedCopies(copies, {}, {}), page)
        return page

    def _keep(
        self,
        offset: LogOffset,
        replies: Sequence[Any],
        plain: PlainPage,
        copies: UsedCopies,
        page: ReusablePage,
    ) -> None:
        """Keeps the renewed page until the time of the old one ends: then one is made as usual."""
        kept = self.kept
        inputs = kept.inputs._replace(stored=replies)
        made_at = kept.made_at._replace(offset=offset)
        store_kept_page(KeptPage(kept.window, inputs, copies, page, made_at, plain))
        keep_last_shown(made_at.reader_id, kept.window.max_id, plain.posts, (), self.now_ms)
