"""Plain pages: home pages without reposts, whose posts are all of authors that all rules clear.

No other entry of the timeline can change what such a page shows. So when posts arrive, or names and
counts change, the page is made again (renewed) from its ids and the finished posts in process
memory. A page that is made as usual decodes and sorts the whole timeline, and asks the rules again.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from xxhash import xxh3_128_digest

from infra.api.pages import ReusablePage, Window
from infra.caching.invalidation_log import LogOffset
from infra.caching.questions import RoundTrip
from infra.caching.viewer_validators import ViewerValidators
from posts.api.present import page_of_statuses, with_flags
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.cache.viewer_state import find_kept_state, load_flags
from posts.cache.viewer_state_payload import ViewerState
from posts.ids import PostId, authors_of
from posts.queries.hydrate import Hydration
from relations.queries.in_process_relationships import find_kept_relationships
from relations.queries.relationships import Relationships
from timelines.rules import VisibilityInputs, find_clear_authors
from timelines.types import Entry, LiveTimeline, reposts_among


class PlainPage(NamedTuple):
    """`posts`: those of the page, newest first, and the next older one if there is one.

    The other fields say of which live timeline: the length and the digest of its entries, and its
    head.
    """

    posts: Sequence[PostId]
    data_bytes: int
    digest: bytes
    complete_from: int
    following_version: int

    @classmethod
    def of(cls, posts: Sequence[PostId], live: LiveTimeline) -> Self:
        digest = xxh3_128_digest(live.data)
        return cls(posts, len(live.data), digest, live.complete_from, live.following_version)

    def find_added(self, live: LiveTimeline) -> Sequence[PostId] | None:
        """The posts that have arrived since.

        None: a repost or a post below the page has arrived, or the timeline differs elsewhere.

        Why it is enough to look at the new entries: above the end of the page there was no repost,
        so no old entry shows a post that has arrived since.
        """
        old, head = live.data[: self.data_bytes], (live.complete_from, live.following_version)
        if head != (self.complete_from, self.following_version):
            return None
        if len(live.data) < self.data_bytes or xxh3_128_digest(old) != self.digest:
            return None
        entries = Entry.split(live.data[self.data_bytes :])
        added = [entry.event for entry in entries]
        if reposts_among(entries) or any(event < self.posts[-1] for event in added):
            return None
        return added


class PlainRead(NamedTuple):
    """What a plain page needs of its reader, all of it from this request or still valid."""

    reader_id: int
    now_ms: int
    live: LiveTimeline
    relationships: Relationships
    state: ViewerState
    offset: LogOffset | None

    @classmethod
    def find(
        cls,
        reader_id: int,
        now_ms: int,
        validators: ViewerValidators,
        live: LiveTimeline | None,
        offset: LogOffset | None,
    ) -> Self | None:
        """None: the timeline is not live, or something of the reader is not in process memory."""
        known = find_kept_relationships(reader_id, validators.relationships)
        state = find_kept_state(reader_id, validators)
        if live is None or known is None or state is None:
            return None
        return cls(reader_id, now_ms, live, known, state, offset)

    def clears(self, authors: set[int]) -> bool:
        """Whether all rules clear the posts of these authors."""
        inputs = VisibilityInputs(self.reader_id, self.now_ms, {}, {}, self.relationships)
        return authors <= find_clear_authors(inputs)

    def find_plain(self, posts: Sequence[PostId], window: Window) -> PlainPage | None:
        """The page if it is a plain first page. `posts`: all that it was made of; no reposts."""
        if not posts or window != Window(window.limit) or not self.clears(authors_of(posts)):
            return None
        return PlainPage.of(sorted(posts, reverse=True), self.live)

    def renew(
        self, plain: PlainPage, limit: int
    ) -> tuple[PlainPage, dict[PostId, PostCopy], ReusablePage] | None:
        """The page as it is now, and the copies that it is made of.

        None: the page is not plain any more, one of its posts is gone, or the reader has filters.
        Cost: one round trip for posts that are not in process memory.
        """
        added = plain.find_added(self.live)
        if added is None or self.state.filters:
            return None
        if added and not self.clears(authors_of(added)):
            return None
        posts = sorted({*added, *plain.posts}, reverse=True)[: limit + 1]
        copies = self._load(posts)
        if len(copies) < len(posts):
            return None
        page = ReusablePage(*page_of_statuses(self._present(copies)[:limit], len(posts) > limit))
        return PlainPage.of(posts, self.live), copies, page

    def _load(self, posts: Sequence[PostId]) -> dict[PostId, PostCopy]:
        """Finished copies of the posts, without those that are gone."""
        copies = in_process_posts.find_finished(posts, self.offset)
        missing = [i for i in posts if i not in copies]
        if not missing:
            return copies
        trip = RoundTrip()
        hydration = Hydration(trip, missing, offset=self.offset)
        trip.run()
        hydration.finish()
        return in_process_posts.find_finished(posts, self.offset)

    def _present(self, copies: dict[PostId, PostCopy]) -> list[bytes]:
        texts = {i: copy.text for i, copy in copies.items()}
        flags = load_flags(self.reader_id, self.state, texts)
        return [with_flags(text, flags.get(i, 0)) for i, text in texts.items()]
