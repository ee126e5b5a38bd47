"""The difference between a live timeline and the posts tables: missing entries and stale entries.

The truth is what the reader's followees posted. Whether an entry may be shown now is decided by the
rules, not here.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from infra.changes.registry import Payload, read_payload
from infra.changes.sql import SELECT_PENDING
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.changes import PostCreated
from posts.ids import PostId
from relations.changes import EdgeChanged
from relations.queries.following import load_following
from timelines.changes import ChunkCut, FanOutBegun, ShardMissed
from timelines.hot.directory import load_hot_authors
from timelines.hot.queries.hot_authors import list_hot_authors
from timelines.queries.pull import pull_from_tables
from timelines.stores.factory import timeline_store
from timelines.types import Entry, LiveTimeline, TimeRange

FAN_OUT_PIECES = (FanOutBegun, ChunkCut, ShardMissed)
KINDS = [payload.kind for payload in (PostCreated, EdgeChanged, *FAN_OUT_PIECES)]
PENDING = f"{SELECT_PENDING} AND owner_id = ANY(%s::bigint[]) AND kind = ANY(%s)"


class TimelineDifference(NamedTuple):
    """One reader's difference. Entries are in page order, oldest first, without repeats.

    `missing`: entries that should be there, at or above the low-water mark.
    `orphaned`: entries there whose post is deleted, or whose author is not followed.
    `below_mark`: entries below the low-water mark, which no page reads.
    `expected_count`: entries there should be. `entry_count`: entries there are, with stale ones.
    `is_too_deep`: so many entries are missing that `missing` has only some of them.
    """

    seen: LiveTimeline
    missing: Sequence[Entry]
    orphaned: Sequence[Entry]
    below_mark: Sequence[Entry]
    expected_count: int
    entry_count: int
    is_too_deep: bool = False

    @property
    def stale(self) -> list[Entry]:
        """Entries that no page will show."""
        return [*self.orphaned, *self.below_mark]

    def __bool__(self) -> bool:
        return bool(self.missing or self.orphaned or self.below_mark)


class PendingPushes(NamedTuple):
    """What live timelines need not have yet, or at all.

    `events`: not pushed to all followers yet. `readers`: a change of their following list is not
    applied yet. `hot_authors`: their posts are not pushed, pages merge them.
    """

    events: set[PostId]
    readers: set[int]
    hot_authors: set[int]


def find_difference(reader_id: int, seen: LiveTimeline) -> TimelineDifference | None:
    """What is wrong with a timeline and no pending change will correct.

    None: unknown, because the timeline or the reader's following list is changing. The drain or the
    reader's next page will bring such a timeline up to date.
    Safety: right during writes. A missing entry was posted, then no pending change brought it, and
    after that it was not in the timeline. Raises: the errors in UNREACHABLE.
    Cost: the following list, a round trip, one query per shard. If entries are missing, two more
    queries per shard and one more round trip.
    """
    difference = _compare(reader_id, seen)
    if difference is None or not difference.missing:
        return difference
    authors = {entry.event.author_id for entry in difference.missing}
    pending = load_pending_pushes({reader_id, *authors})
    now = timeline_store().peek([reader_id]).get(reader_id)
    if now is None or now.following_version != seen.following_version:
        return None
    if reader_id in pending.readers:
        return None
    missing = _still_missing(reader_id, difference.missing, now, pending)
    is_too_deep = difference.is_too_deep and bool(missing)
    return difference._replace(missing=missing, is_too_deep=is_too_deep)


def load_pending_pushes(account_ids: Iterable[int]) -> PendingPushes:
    """The pending pushes of the shards of these accounts. Parked changes do not count.

    A change that announces a post and the pieces of its fan-out replace each other in one
    transaction. So a post that is older than this call and not among `events` is delivered. An
    author who was hot then and is not among `hot_authors` has cooled, and timelines that lacked the
    author's posts were dropped before. Cost: two queries a shard.
    """
    calls = {
        alias: partial(_read_pending, alias, owners)
        for alias, owners in group_by_shard(account_ids).items()
    }
    pending = PendingPushes(set(), set(), set())
    for rows, hot in scatter(calls).values():
        pending.hot_authors.update(hot)
        for owner_id, kind, text in rows:
            payload = read_payload(kind, text)
            pending.events.update(_events_of(owner_id, payload))
            if isinstance(payload, EdgeChanged):
                pending.readers.add(owner_id)
    return pending


def _read_pending(alias: str, owners: list[int]) -> tuple[Sequence[tuple[Any, ...]], list[int]]:
    """Reads changes first. In the other order an author could become hot between the two, and have
    posts that are neither pending nor merged."""
    return fetch_all(alias, PENDING, (owners, KINDS)), list_hot_authors(alias)


def _events_of(owner_id: int, payload: Payload) -> Iterator[PostId]:
    if isinstance(payload, PostCreated):
        yield PostId.at(owner_id, payload.moment)
    elif isinstance(payload, FAN_OUT_PIECES):
        yield from (entry.event for entry in payload.entries)


def _still_missing(
    reader_id: int, entries: Sequence[Entry], now: LiveTimeline, pending: PendingPushes
) -> list[Entry]:
    """The entries that did not arrive since, and that no push or merge will bring."""
    arrived, merged = set(_entries(now.packed)), pending.hot_authors - {reader_id}
    return [
        entry
        for entry in entries
        if entry not in arrived
        and entry.event.second >= now.complete_from
        and entry.event not in pending.events
        and entry.event.author_id not in merged
    ]


def _compare(reader_id: int, seen: LiveTimeline) -> TimelineDifference | None:
    """Ignores hot followees: their posts may be in the timeline, but need not be."""
    following = load_following(reader_id)
    if following.version != seen.following_version:
        return None
    hot = _list_hot_followees(following.followee_ids)
    authors = [reader_id, *(followee for followee in following.followee_ids if followee not in hot)]
    stored = set(_entries(seen.packed))
    # If the pull reaches this limit, some entry is missing: the timeline has fewer than that.
    most = max(2 * settings.TIMELINE_ENTRIES, len(stored)) + 1
    # No entry is exactly at the start of a second, because no account has the id 0.
    floor = PostId(seen.complete_from, 0, 0)
    expected = pull_from_tables(authors, TimeRange(floor), most)
    is_too_deep = len(expected) == most
    oldest = expected[-1] if is_too_deep else Entry.of_post(floor)
    compared = {e for e in stored if e >= oldest and e.event.author_id not in hot}
    below_mark = set(_entries(seen._replace(complete_from=0).packed)) - stored
    return TimelineDifference(
        seen,
        missing=sorted(set(expected) - stored),
        orphaned=sorted(compared - set(expected)),
        below_mark=sorted(below_mark),
        expected_count=len(expected),
        entry_count=len(stored) + len(below_mark),
        is_too_deep=is_too_deep,
    )


def _list_hot_followees(followee_ids: Iterable[int]) -> set[int]:
    return set(load_hot_authors().ids).intersection(followee_ids)


def _entries(packed: Iterable[bytes]) -> list[Entry]:
    return [Entry.from_packed(entry) for entry in packed]
