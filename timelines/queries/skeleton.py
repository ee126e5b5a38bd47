"""The ids of a part of a home timeline: from the live one as far as it reaches, then by pull."""

import time
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Protocol

from redis.exceptions import RedisError

from infra.caching.client import redis
from posts.cache.in_process import LogOffset, in_process_posts
from posts.cache.viewer_state import ViewerState, complete_viewer_state, viewer_state_command
from posts.ids import LAST, PACKED_BYTES, PostId
from posts.queries.responses import read_reposts
from relations.queries.following import load_following, read_version, version_command
from relations.queries.in_process_relationships import relationship_validator_command
from timelines.actions.rebuild_timeline import rebuild_timeline
from timelines.hot.directory import directory
from timelines.hot.directory import validator_command as hot_validator_command
from timelines.hot.entries import hot_entries, read_commands
from timelines.hot.queries.hot_followees import guess_hot_followees, list_hot_followees
from timelines.queries.merged import MergedTimeline
from timelines.queries.pull import iter_pulled
from timelines.stores.factory import timeline_store
from timelines.types import Entry, LiveTimeline, TimelineAuthors, TimeRange, reposts_among

_KEY = itemgetter(0)


class Skeleton(Protocol):
    """The ids of a timeline of one reader, for the length of one request.

    `is_stored`: whether entries come from a live timeline, which may need mending. `replies_to`:
    to whom replies are shown; None: to everybody. The rest: HomeSkeleton.
    """

    reader_id: int
    now_ms: int
    position: LogOffset | None
    stamp: bytes | None
    own: ViewerState
    is_stored: ClassVar[bool]
    replies_to: Collection[int] | None

    def iter_older(self, span: TimeRange) -> Iterator[Entry]: ...
    def iter_newer(self, span: TimeRange) -> Iterator[Entry]: ...
    def sources_of(self, entries: Sequence[Entry]) -> Sequence[Entry]: ...


class HomeSkeleton:
    """One reader's home for the length of one request, which is at one moment for its rules.

    `position`: where the log of posts that are gone stood when the request began. `stamp`: what
    relationships in process memory must carry to hold. `own`: what the reader did with posts.
    """

    is_stored: ClassVar[bool] = True
    replies_to: Collection[int] | None = None

    def __init__(self, reader_id: int, now_ms: int) -> None:
        self.reader_id = reader_id
        self.now_ms = now_ms
        first = load_first_replies(reader_id)
        self.position, self.stamp = first.position, first.stamp
        self._merged = _merge_hot_entries(reader_id, first)
        self.own = complete_viewer_state(reader_id, first.own)
        self._circle: TimelineAuthors | None = None

    def iter_older(self, span: TimeRange) -> Iterator[Entry]:
        """Entries inside the span, newest first. SQL only below what the live timeline holds."""
        return chain(_distinct(self._held_newest_first(span)), self._pull_older(span))

    def iter_newer(self, span: TimeRange) -> Iterator[Entry]:
        """Entries inside the span, oldest first."""
        if self._merged.complete_from <= span.above.second:
            yield from _distinct(_inside(self._merged.packed, span))
        else:
            yield from self._pull(span, newest_first=False)

    def sources_of(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """These and what else brought the same posts, each once, visible or not.

        Of what the live timeline holds that is all above its mark; of what is older, all there is:
        one query per shard.
        """
        sources = [Entry.of_post(original) for _, original in reposts_among(entries)]
        sources += self._merged.sources_of(entries)
        if min(entries[0], entries[-1]).event.second < self._merged.complete_from:
            sources += self._older_sources(entries)
        return list(dict.fromkeys([*entries, *sources])) if sources else entries

    def _older_sources(self, entries: Iterable[Entry]) -> list[Entry]:
        mark, circle = self._merged.complete_from, self._find_circle()
        posts = {original for event, original in entries if event.second < mark}
        return [Entry(*pair) for pair in read_reposts(posts, circle.author_ids)]

    def _held_newest_first(self, span: TimeRange) -> Iterator[bytes]:
        """What the live timeline has of the span. A first page seldom needs more than its tail."""
        tail = self._merged.newest_packed if span.below is LAST else []
        return chain(reversed(_inside(tail, span)), self._before(tail, span))

    def _before(self, tail: list[bytes], span: TimeRange) -> Iterator[bytes]:
        rest = _inside(self._merged.packed, span)
        yield from reversed(rest[: bisect_left(rest, tail[0])] if tail else rest)

    def _pull_older(self, span: TimeRange) -> Iterator[Entry]:
        if self._merged.complete_from > span.above.second:
            floor = PostId(self._merged.complete_from, 0, 0)
            yield from self._pull(TimeRange(span.above, min(span.below, floor)), newest_first=True)

    def _pull(self, span: TimeRange, newest_first: bool) -> Iterator[Entry]:
        return iter_pulled(self._find_circle(), span, newest_first)

    def _find_circle(self) -> TimelineAuthors:
        if self._circle is None:
            self._circle = TimelineAuthors(
                self.reader_id, load_following(self.reader_id).followee_ids
            )
        return self._circle


class FirstReplies(NamedTuple):
    """What the first round trip of a page brings; without Redis None but for `live`.

    `live`: None also when it reflects another following list than the reader's. `position`: of the
    log of posts that are gone. `stamp`: of what lies between the reader and others.
    `own`: what the reader did with posts. `hot_validator`: of the set of hot authors.
    """

    live: LiveTimeline | None
    position: LogOffset | None
    stamp: bytes | None
    own: bytes | None
    hot_validator: bytes | None


def _merge_hot_entries(reader_id: int, first: FirstReplies) -> MergedTimeline:
    """What was pushed lacks the hot authors; what is computed without Redis lacks nobody."""
    live = first.live or rebuild_timeline(reader_id)
    if first.live is None and first.hot_validator is None:
        return MergedTimeline(live, ())
    hot = directory.load(first.hot_validator)
    return MergedTimeline(live, hot_entries.load(list_hot_followees(reader_id, hot, first.stamp)))


def load_first_replies(reader_id: int) -> FirstReplies:
    """Cost: one round trip; two queries and two trips more when the following list ran out."""
    store, look = timeline_store(), in_process_posts.plan_log_read()
    ahead, asked_at = hot_entries.list_stale(guess_hot_followees(reader_id)), time.monotonic()
    commands = [
        *read_commands(ahead),
        *store.read_commands(reader_id),
        version_command(reader_id),
        look.command(),
        relationship_validator_command(reader_id),
        viewer_state_command(reader_id),
        hot_validator_command(),
    ]
    try:
        *replies, mark, news, stamp, own, hot_validator = redis().run(commands)
    except RedisError:
        return FirstReplies(_find_live(reader_id, (), None), None, None, None, None)
    stored = hot_entries.store_replies(ahead, replies, asked_at)
    position = in_process_posts.apply_log(look, news)
    return FirstReplies(_find_live(reader_id, stored, mark), position, stamp, own, hot_validator)


def _find_live(reader_id: int, replies: Sequence[Any], mark: Any) -> LiveTimeline | None:
    """What the store has, when it reflects the reader's following list."""
    timeline = timeline_store().load(reader_id, replies)
    if timeline is None or timeline.following_version == _find_version(reader_id, mark):
        return timeline
    return None


def _find_version(reader_id: int, mark: Any) -> int:
    """A following list that ran out is laid again, or its reader would never be warm."""
    version = read_version(mark)
    return load_following(reader_id).version if version is None else version


def _inside(packed: list[bytes], span: TimeRange) -> list[bytes]:
    """Those of the entries, oldest first, that are strictly inside the span."""
    first = bisect_left(packed, span.above.packed + b"\xff" * PACKED_BYTES)
    return packed[first : bisect_right(packed, span.below.packed)]


def _distinct(packed: Iterable[bytes]) -> Iterator[Entry]:
    """Entries of an ordered run without its repeats."""
    return map(Entry.from_packed, map(_KEY, groupby(packed)))
