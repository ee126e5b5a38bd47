"""A kept page that is the page of this request, unless Redis has something new.

The first round trip asks as little as possible for it. A plain page (plain_pages.py) is also likely
when posts have arrived or counts have changed: it is made again from its ids.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from infra.api.pages import KeptPage, Window
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
    PageCopy,
    drop_copy,
    find_copy,
    put_copy,
    shorten,
)
from timelines.queries.last_shown import keep_last_shown
from timelines.queries.plain_pages import PlainPage, PlainRead
from timelines.types import LiveTimeline

RENEWED = "timelines.renewed_pages"


class LikelyPage(NamedTuple):
    """`is_usable`: process memory has all that it is made of, as is known before the trip."""

    kept: PageCopy
    is_usable: bool
    now_ms: int

    @classmethod
    def find(cls, reader_id: int, window: Window, now_ms: int) -> Self | None:
        """The reader's last page, if process memory has all that it is made of, or it is plain.

        No round trip.
        """
        kept = find_copy(reader_id, window, now_ms)
        if kept is None:
            return None
        is_usable = kept.copies.are_usable
        # Without these two, process memory was lost, and the page would need more round trips.
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
        ahead: Question[Mapping[int, HotEntries]],
    ) -> KeptPage | None:
        """The page as it is now, after the round trip with these questions. None: make it as usual.

        `ahead`: of the hot followees. With other validators the page can never be used again, so it
        is dropped. While it is there, the first round trip asks too little to create a validator
        that is missing. Cost: one more round trip for new posts that this process does not have.
        """
        inputs = self.kept.inputs
        if validators.value != inputs.validators:
            drop_copy(self.kept)
            return None
        if log.value is None or not self._has_same_hot_entries(ahead.value):
            return None
        replies = shorten(stored.replies or ())
        if replies == inputs.stored and self.kept.copies.are_usable:
            count_reads(FAMILY, "process", 1)
            return self.kept.page
        return self._renew(log.value, stored.value, replies)

    def _has_same_hot_entries(self, ahead: Mapping[int, HotEntries]) -> bool:
        """Equal validators of the reader and an equal set of hot authors mean equal followees."""
        made_at = self.kept.made_at
        if directory.cached != made_at.hot_authors:
            return False
        hot = hot_entries.find_fresh(made_at.hot_followees, ahead)
        return hot is not None and [one.as_input for one in hot] == self.kept.inputs.hot

    def _renew(
        self, offset: LogOffset, live: LiveTimeline | None, replies: Sequence[Any]
    ) -> KeptPage | None:
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
        page: KeptPage,
    ) -> None:
        """Keeps it until the time of the last page ends, so that one is made as usual then."""
        kept = self.kept
        inputs = kept.inputs._replace(stored=replies)
        made_at = kept.made_at._replace(offset=offset)
        put_copy(PageCopy(kept.window, inputs, copies, page, made_at, plain))
        keep_last_shown(made_at.reader_id, kept.window.max_id, plain.posts, ())
