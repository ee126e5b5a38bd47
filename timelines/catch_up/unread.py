"""Which entries of a home timeline are unread: those that arrived after its marker.

An entry is unread if its id is above the marker's, or if it became visible after the reader had
seen the marker's entry (ADR 0067). The reader's own entries are never unread.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from infra.caching.questions import answer
from posts.ids import FIRST, PostId
from timelines.catch_up.types import Bound
from timelines.home.feed import HomeFeed
from timelines.markers.types import MarkerState
from timelines.polling.late_posts import LateAtHome
from timelines.recent.queries.late_rows import MARGIN_MS
from timelines.tags.cache import ask_home_tags
from timelines.types import Entry, Place


class Arrived(NamedTuple):
    """What arrived up to the id `since` after `floor_ms`, as entries, newest first.

    All that was visible at `seen_ms` is there. Times: as in Bound.
    """

    since: PostId
    floor_ms: int
    seen_ms: int
    late: Sequence[Entry]


def find_arrived(reader_id: int, marker: MarkerState | None, now_ms: int) -> Arrived:
    """Without a marker nothing was read. Call it before the entries of the page are read.

    Cost: one query on the reader's shard, also if the marker is old; it then reads the late rows
    of the index since the marker.
    """
    if marker is None:
        return _load_arrived(reader_id, FIRST, now_ms)
    return _load_arrived(reader_id, PostId.from_base36(marker.last_read_id), _find_floor(marker))


def load_arrived_until(reader_id: int, bound: Bound) -> Arrived:
    """What had arrived when this bound was made. Cost: one query on the reader's shard."""
    arrived = _load_arrived(reader_id, bound.since, bound.floor_ms, bound.seen_ms)
    return arrived._replace(seen_ms=bound.seen_ms)


def list_unread(timeline: HomeFeed, entries: Sequence[Entry]) -> list[Place]:
    """The places of these entries, without posts that a filter hides at home.

    Cost: as `list_places`.
    """
    filters = timeline.viewer_state.filters
    places = timeline.list_places(entries)
    if not filters:
        return places
    return [p for p in places if not filters.hide_at_home(p.fragment, _ids_of(p.entry))]


def without_own(reader_id: int, entries: Iterable[Entry]) -> Iterable[Entry]:
    return (entry for entry in entries if entry.event.author_id != reader_id)


def _find_floor(marker: MarkerState) -> int:
    """From when on late entries are unread: from the move of the marker on, or from its bound."""
    if marker.seen_ms is not None:
        return marker.seen_ms
    return int(marker.updated_at.timestamp() * 1000)


def _load_arrived(
    reader_id: int, since: PostId, floor_ms: int | None, until_ms: int | None = None
) -> Arrived:
    home_tags = ask_home_tags(reader_id)
    answer(home_tags)
    late = LateAtHome(reader_id, home_tags).load(since, floor_ms)
    # That of the answer is earlier if the reader has moved to another shard since.
    floor = late.floor + MARGIN_MS if floor_ms is None else min(floor_ms, late.floor)
    end = late.end if until_ms is None else until_ms
    arrived = [post.entry for post in late.posts if floor < post.visible_ms <= end]
    return Arrived(since, floor, end, sorted(arrived, reverse=True))


def _ids_of(entry: Entry) -> list[str]:
    return list(dict.fromkeys((entry.event.public, entry.original.public)))
