"""The entries of a home timeline: from the live timeline, below it by pull, and by home tags."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, groupby, islice
from operator import itemgetter

from posts.ids import LAST, PACKED_BYTES, PostId
from posts.queries.responses import read_reposts
from relations.queries.following import load_following
from relations.visibility import Surface
from timelines.actions.cut_old_entries import cut_old_entries
from timelines.actions.rebuild_timeline import rebuild_timeline
from timelines.feeds.known_replies import without_replies_to
from timelines.feeds.ruled import RuledFeed
from timelines.home.merged import MergedTimeline
from timelines.home.reader import HomeReader
from timelines.queries.pull import iter_pulled, pull
from timelines.stores.factory import overtaken_timelines
from timelines.types import Entry, TimelineAuthors, TimeRange, reposts_among

_KEY = itemgetter(0)


class HomeFeed(RuledFeed):
    """The entries of one reader's home timeline."""

    is_stored = True
    surface = Surface.HOME

    def __init__(self, reader: HomeReader, now_ms: int) -> None:
        self.reader_id, self.now_ms = reader.reader_id, now_ms
        self.viewer_state, self.replies = reader.viewer_state.value, reader.replies
        self._merged, self._tagged = _load_merged(reader, now_ms), reader.tagged
        self.home_tags = self._tagged.names if self._tagged else frozenset()
        self._strangers = reader.strangers
        self._authors: TimelineAuthors | None = None

    def iter_older(self, time_range: TimeRange) -> Iterator[Entry]:
        """Entries inside the range, newest first. Uses SQL only below the live timeline, and below
        the lists of home tags. Replies that this process knows home to leave out are passed."""
        return self._pass_replies(self._iter_older(time_range))

    def _pass_replies(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        return without_replies_to(self._strangers, entries) if self._strangers else entries

    def _iter_older(self, time_range: TimeRange) -> Iterator[Entry]:
        own = chain(_distinct(self._newest_live_first(time_range)), self._pull_older(time_range))
        if self._tagged is None:
            return own
        return _without_repeats(merge(own, self._tagged.iter_older(time_range), reverse=True))

    def list_newest(self, time_range: TimeRange, most: int) -> list[Entry]:
        """The newest entries inside the range, newest first. Cost: one pull for all entries below
        the live timeline, where `iter_older` has one for every PULL_BATCH."""
        own = self._list_newest_own(time_range, most)
        if self._tagged is None:
            return own
        tagged = islice(self._tagged.iter_older(time_range), most)
        return list(islice(_without_repeats(merge(own, tagged, reverse=True)), most))

    def _list_newest_own(self, time_range: TimeRange, most: int) -> list[Entry]:
        live = list(islice(_distinct(self._newest_live_first(time_range)), most))
        older = self._below_live(time_range)
        if older is None or len(live) == most:
            return live
        return live + pull(self._load_authors(), older, most - len(live))

    def iter_newer(self, time_range: TimeRange) -> Iterator[Entry]:
        """Entries inside the range, oldest first.

        The shards may have newer entries that the live timeline lacks until they are pushed. They
        are left out: the next first page would lack them.
        """
        own = self._iter_newer_own(time_range)
        if self._tagged is None:
            return self._pass_replies(own)
        return _without_repeats(merge(own, self._tagged.iter_newer(time_range)))

    def _iter_newer_own(self, time_range: TimeRange) -> Iterator[Entry]:
        older = self._below_live(time_range)
        if older is not None:
            yield from self._pull(older, newest_first=False)
        yield from _distinct(_inside(self._merged.packed, time_range))

    def list_arrived(self, entries: Iterable[Entry]) -> list[Entry]:
        """The entries that this timeline has.

        A fan-out adds an entry to the recent-posts index before it pushes the entry. A poll must
        not return an entry that the next ordinary page would lack.
        """
        live, mark = set(self._merged.packed), self._merged.complete_from
        asked = list(entries)
        others = [e for e in asked if e.event.second >= mark and e.packed not in live]
        missing = {*others}
        if self._tagged is not None and others:
            # Followees' posts without a home tag are not there, however old.
            missing -= self._tagged.find_arrived(others)
        return [entry for entry in asked if entry not in missing]

    def list_sources(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """These entries and all others that show the same posts, without repeats, visible or not.

        The others of a post above the low-water mark come from the live timeline: a repost is later
        than its post. Those of an older post come from the shards, with one query per shard. So the
        result does not depend on the mark.
        """
        reposts = reposts_among(entries)
        sources = [Entry.of_post(original) for _, original in reposts]
        sources += self._merged.list_reposts(entries)
        has_older = min(entries[0], entries[-1]).event.second < self._merged.complete_from
        sources += self._list_older_reposts(entries if has_older else reposts)
        return list(dict.fromkeys([*entries, *sources])) if sources else entries

    def _list_older_reposts(self, entries: Iterable[Entry]) -> list[Entry]:
        """The reposts of those posts that are older than the low-water mark, if they have arrived.

        The shard of a post knows of its reposts first. A post whose newest repost has not arrived
        is shown at an older place.
        """
        mark = self._merged.complete_from
        posts = {original for _, original in entries if original.second < mark}
        if not posts:
            return []
        pairs = read_reposts(posts, self._load_authors().author_ids)
        return self.list_arrived([Entry(*pair) for pair in pairs])

    def _newest_live_first(self, time_range: TimeRange) -> Iterator[bytes]:
        """Entries of the live timeline. The tail is tried first; most first pages need no more."""
        tail = self._merged.newest_packed if time_range.below is LAST else []
        return chain(reversed(_inside(tail, time_range)), self._before(tail, time_range))

    def _before(self, tail: list[bytes], time_range: TimeRange) -> Iterator[bytes]:
        packed = _inside(self._merged.packed, time_range)
        yield from reversed(packed[: bisect_left(packed, tail[0])] if tail else packed)

    def _pull_older(self, time_range: TimeRange) -> Iterator[Entry]:
        older = self._below_live(time_range)
        if older is not None:
            yield from self._pull(older, newest_first=True)

    def _below_live(self, time_range: TimeRange) -> TimeRange | None:
        """The part of the range that the live timeline may lack."""
        if self._merged.complete_from <= time_range.above.second:
            return None
        floor = PostId(self._merged.complete_from, 0, 0)
        return TimeRange(time_range.above, min(time_range.below, floor))

    def _pull(self, time_range: TimeRange, newest_first: bool) -> Iterator[Entry]:
        return iter_pulled(self._load_authors(), time_range, newest_first)

    def _load_authors(self) -> TimelineAuthors:
        if self._authors is None:
            followee_ids = load_following(self.reader_id).followee_ids
            self._authors = TimelineAuthors(self.reader_id, followee_ids)
        return self._authors


def _load_merged(reader: HomeReader, now_ms: int) -> MergedTimeline:
    """The timeline of the page. What Redis has may be behind one that was made without Redis."""
    merged = _merge(reader, now_ms)
    if not reader.has_redis:
        overtaken_timelines.note(reader.reader_id)
    return merged


def _merge(reader: HomeReader, now_ms: int) -> MergedTimeline:
    """The timeline of the page, with all authors' posts.

    A stored timeline lacks the posts of hot authors. One that is computed without Redis has them.
    """
    reader_id, live = reader.reader_id, reader.live
    if live is None and not reader.has_redis:
        return MergedTimeline(rebuild_timeline(reader_id, now_ms), ())
    if live is not None:
        cut_old_entries(reader_id, live, now_ms)
    return reader.merge_hot_entries(live or rebuild_timeline(reader_id, now_ms))


def _inside(packed: list[bytes], time_range: TimeRange) -> list[bytes]:
    """The entries (oldest first) that are strictly inside the range."""
    first = bisect_left(packed, time_range.above.packed + b"\xff" * PACKED_BYTES)
    return packed[first : bisect_right(packed, time_range.below.packed)]


def _without_repeats(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries in order: a followee's post with a home tag comes from both sides."""
    return map(_KEY, groupby(entries))


def _distinct(packed: Iterable[bytes]) -> Iterator[Entry]:
    """Entries in order, without repeats."""
    return map(Entry.from_packed, map(_KEY, groupby(packed)))
