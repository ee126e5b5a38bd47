"""The ids of a part of a home timeline: from the live one as far as it reaches, then by pull."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import groupby

from redis.exceptions import RedisError

from infra.caching.client import redis
from posts.ids import LAST, PACKED_BYTES, PostId
from posts.known import Position, known_posts
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
    """One reader's home for the length of one request.

    `position`: where the log of posts that are gone stood when the request began.
    """

    def __init__(self, reader_id: int) -> None:
        self.reader_id = reader_id
        live, self.position = read_live(reader_id)
        self.live = live or rebuild(reader_id)
        self._authors: list[int] | None = None

    def iter_older(self, span: Span) -> Iterator[Entry]:
        """Entries inside the span, newest first. SQL only below what the live timeline holds."""
        yield from _distinct(self._held_newest_first(span))
        if self.live.complete_from > span.above.second:
            floor = PostId(self.live.complete_from, 0, 0)
            yield from self._pull(Span(span.above, min(span.below, floor)), newest_first=True)

    def iter_newer(self, span: Span) -> Iterator[Entry]:
        """Entries inside the span, oldest first."""
        if self.live.complete_from <= span.above.second:
            yield from _distinct(_inside(self.live.packed, span))
        else:
            yield from self._pull(span, newest_first=False)

    def _held_newest_first(self, span: Span) -> Iterator[bytes]:
        """What the live timeline has of the span. A first page seldom needs more than its tail."""
        tail = self.live.newest_packed if span.below is LAST else []
        yield from reversed(_inside(tail, span))
        rest = _inside(self.live.packed, span)
        yield from reversed(rest[: bisect_left(rest, tail[0])] if tail else rest)

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


def read_live(reader_id: int) -> tuple[LiveTimeline | None, Position | None]:
    """The live timeline, or None when there is none that reflects the reader's following list;
    and where the log of posts that are gone stands, None without Redis.

    Cost: one round trip; one query more when the following list is not cached.
    """
    store, look = timeline_store(), known_posts.look()
    commands = [store.read_command(reader_id), version_command(reader_id), look.command()]
    try:
        reply, mark, news = redis().run(commands)
    except RedisError:
        return None, None
    position = known_posts.settle(look, news)
    timeline = store.parse(reply)
    if timeline is None:
        return None, position
    version = read_version(mark)
    if version is None:
        version = read_following_version(reader_id)
    return timeline if timeline.following_version == version else None, position


def _inside(packed: list[bytes], span: Span) -> list[bytes]:
    """Those of the entries, oldest first, that are strictly inside the span."""
    first = bisect_left(packed, span.above.packed + b"\xff" * PACKED_BYTES)
    return packed[first : bisect_right(packed, span.below.packed)]


def _distinct(packed: Iterable[bytes]) -> Iterator[Entry]:
    """Entries of an ordered run without its repeats."""
    return (Entry.from_packed(entry) for entry, _ in groupby(packed))
