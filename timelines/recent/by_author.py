"""The recent-posts index on the authors' shards, and authors' packs in Redis in front of it.

A post is one row on one shard, with any number of shards. A pull reads the packs of all
followees in one round trip; what Redis lacks comes from the shards of these authors. When a post
became visible is in its row and in the pack, by the clock of the author's shard. So a poll allows
for clocks that differ by SKEW_MS.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from infra.clock import now_ms
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from posts.ids import EPOCH, SEQUENCES, PostId, moment_after, moment_below
from posts.queries.rows import list_timeline
from posts.types import PostRange
from relations.queries.following import load_following
from timelines.polling.types import MOST_LATE, LatePost, LatePosts
from timelines.recent.actions.index_own import add_own_old, index_own, remove_own, settle_own
from timelines.recent.interface import RecentEntries
from timelines.recent.packs import load_packs
from timelines.recent.queries.late_rows import (
    MARGIN_MS,
    SKEW_MS,
    TAKEN_BACK_MS,
    PolledAuthors,
    earliest_floor,
    read_floor,
    read_late_posts,
)
from timelines.recent.queries.newest_posts import Wanted, read_all_shards
from timelines.recent.records import Arrivals, Pack
from timelines.types import Entry, TimelineAuthors, TimeRange


class ByAuthorIndex:
    """RecentIndex by author. A write needs the shard of the author only."""

    def add(self, entries: Sequence[Entry], shards: Iterable[str]) -> Mapping[str, int | None]:
        """Raises: the errors in UNREACHABLE."""
        return dict.fromkeys(shards, index_own(entries))

    def add_for(self, shard: str, entries: Sequence[Entry]) -> int:
        return index_own(entries)

    def add_old(self, entries: Sequence[Entry]) -> None:
        add_own_old(entries)

    def settle(self, shards: Iterable[str], events: Sequence[PostId]) -> Sequence[str]:
        """Raises: the errors in UNREACHABLE. For all readers, if for any."""
        if list(shards):
            settle_own(events)
        return ()

    def settle_for(self, shard: str, events: Sequence[PostId]) -> None:
        settle_own(events)

    def remove(self, events: Collection[PostId]) -> None:
        remove_own(events)

    def load(
        self,
        authors: TimelineAuthors,
        time_range: TimeRange,
        limit: int,
        newest_first: bool,
    ) -> RecentEntries:
        """One round trip; one query for the reader's own posts. See also `load_packs`."""
        packs = load_packs(authors.followee_ids)
        complete_from = max([pack.complete_from for pack in packs.values()], default=0)
        recent = Arrivals(packs).list_entries(time_range, complete_from, limit, newest_first)
        if authors.has_own:
            own = _list_own(authors.reader_id, time_range, complete_from, limit, newest_first)
            recent = sorted({*recent, *own}, reverse=newest_first)[:limit]
        return RecentEntries(recent, complete_from)

    def list_arrived(self, reader_id: int, entries: Sequence[Entry]) -> list[Entry]:
        if not entries:
            return []
        packs = load_packs({entry.event.author_id for entry in entries})
        arrived = Arrivals(packs).list_events()
        return [entry for entry in entries if _is_below(entry, packs) or entry.event in arrived]

    def load_of_all(self, wanted: Wanted) -> dict[PostId, int]:
        return read_all_shards(wanted)

    def load_late(self, authors: PolledAuthors, cursor: PostId, floor: int | None) -> LatePosts:
        """One round trip, the following list. Packs that do not reach down to the floor: one query
        on each of their shards. Without a floor one query on the shard of the cursor's author."""
        at_ms = now_ms()
        seen_until = at_ms - SKEW_MS - MARGIN_MS
        since = _find_floor(authors.reader_id, cursor, at_ms) if floor is None else floor
        since = at_ms - TAKEN_BACK_MS if since > at_ms else since
        packs = load_packs(_list_polled(authors))
        lowest = since // 1000 - EPOCH
        whole = {i: pack for i, pack in packs.items() if pack.late_from <= lowest}
        late = [LatePost(*arrival) for arrival in Arrivals(whole).list_late(cursor, since)]
        late += _read_late([i for i in packs if i not in whole], cursor, since)
        late.sort(key=lambda post: (post.visible_ms, post.event))
        return LatePosts(late[:MOST_LATE], since, seen_until)


def _find_floor(reader_id: int, cursor: PostId, now_ms: int) -> int:
    """The clocks of shards differ, so what arrived on time says no more than its second."""
    seen_ms = read_floor(shard_of(cursor.author_id), reader_id, cursor)
    return min(seen_ms - SKEW_MS, earliest_floor(cursor, None, now_ms))


def _list_own(
    reader_id: int, time_range: TimeRange, complete_from: int, limit: int, newest_first: bool
) -> list[Entry]:
    above, below = time_range
    lower = max(moment_after(above, reader_id), complete_from * SEQUENCES)
    post_range = PostRange(lower, moment_below(below, reader_id), limit, newest_first)
    return [Entry(*pair) for pair in list_timeline(reader_id, post_range)]


def _is_below(entry: Entry, packs: Mapping[int, Pack]) -> bool:
    return entry.event.second < packs[entry.event.author_id].complete_from


def _list_polled(authors: PolledAuthors) -> Sequence[int]:
    if authors.members is not None:
        return authors.members
    return [authors.reader_id, *load_following(authors.reader_id).followee_ids]


def _read_late(author_ids: Sequence[int], cursor: PostId, since: int) -> list[LatePost]:
    calls = {
        alias: partial(read_late_posts, alias, PolledAuthors(0, mine), cursor, since)
        for alias, mine in group_by_shard(author_ids).items()
    }
    return [post for answer in scatter(calls).values() for post in answer.posts]
