"""The ids of a part of a home timeline: from the live one as far as it reaches, then by pull."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from redis.exceptions import RedisError

from infra.caching.client import redis
from posts.ids import PostId
from relations.queries.following import (
    load_following,
    read_following_version,
    read_version,
    version_command,
)
from timelines.queries.pull import Span, pull
from timelines.queries.rebuild import rebuild
from timelines.stores.chosen import timeline_store
from timelines.types import Entry, LiveTimeline

PULL_BATCH = 60


class HomeSkeleton:
    """One reader's home for the length of one request."""

    def __init__(self, reader_id: int) -> None:
        self.reader_id = reader_id
        self.live = read_live(reader_id) or rebuild(reader_id)
        self._authors: list[int] | None = None

    def iter_older(self, span: Span) -> Iterator[Entry]:
        """Entries inside the span, newest first. SQL only below what the live timeline holds."""
        yield from _distinct(reversed(self._held(span)))
        if self.live.complete_from > span.above.second:
            floor = PostId(self.live.complete_from, 0, 0)
            yield from self._pull(Span(span.above, min(span.below, floor)), newest_first=True)

    def iter_newer(self, span: Span) -> Iterator[Entry]:
        """Entries inside the span, oldest first."""
        if self.live.complete_from <= span.above.second:
            yield from _distinct(self._held(span))
        else:
            yield from self._pull(span, newest_first=False)

    def _held(self, span: Span) -> Sequence[bytes]:
        """The live timeline's packed entries strictly inside the span, oldest first."""
        packed = self.live.packed
        first = bisect_left(packed, span.above.packed + b"\xff" * 10)
        return packed[first : bisect_right(packed, span.below.packed)]

    def _pull(self, span: Span, newest_first: bool) -> Iterator[Entry]:
        """Pages through the posts tables, from one end of the span to the other."""
        while True:
            ids = pull(self._author_ids(), span, PULL_BATCH, newest_first)
            yield from map(Entry.of_post, ids)
            if len(ids) < PULL_BATCH:
                return
            span = Span(span.above, ids[-1]) if newest_first else Span(ids[-1], span.below)

    def _author_ids(self) -> list[int]:
        if self._authors is None:
            self._authors = [self.reader_id, *load_following(self.reader_id).followee_ids]
        return self._authors


def read_live(reader_id: int) -> LiveTimeline | None:
    """The live timeline, or None when there is none that reflects the reader's following list.

    Cost: one round trip; one query more when the following list is not cached.
    """
    store = timeline_store()
    try:
        reply, mark = redis().run([store.read_command(reader_id), version_command(reader_id)])
    except RedisError:
        return None
    timeline = store.parse(reply)
    if timeline is None:
        return None
    version = read_version(mark)
    if version is None:
        version = read_following_version(reader_id)
    return timeline if timeline.following_version == version else None


def _distinct(packed: Sequence[bytes] | Iterator[bytes]) -> Iterator[Entry]:
    """Entries of an ordered run without its repeats."""
    return (Entry.from_packed(entry) for entry, _ in groupby(packed))
