"""What a live timeline has against what the posts tables say: entries missing, entries dead.

Truth is what is posted by whom the reader follows; whether it may be seen now is for the rules.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.conf import settings

from infra.caching.client import redis
from posts.ids import PostId
from relations.queries.following import load_following
from timelines.hot.directory import directory, validator_command
from timelines.queries.pull import pull_from_tables
from timelines.queries.waiting import PendingPushes, load_pending_pushes
from timelines.stores.factory import timeline_store
from timelines.types import Entry, LiveTimeline, TimeRange


class TimelineDifference(NamedTuple):
    """Of one reader. Entries are in page order, oldest first, each once.

    `missing`: holes, at or above the mark. `stale`: dead entries there: their post is gone, or who
    brought it is not followed. `below_mark`: entries below the mark, which nobody reads.
    `expected_count`: entries there should be. `entry_count`: entries there are, dead ones too.
    `is_too_deep`: the mark promises so much more than is held that `missing` is not all.
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
        return [*self.orphaned, *self.below_mark]

    def __bool__(self) -> bool:
        return bool(self.missing or self.orphaned or self.below_mark)


def find_difference(reader_id: int, seen: LiveTimeline) -> TimelineDifference | None:
    """What is wrong for good with a timeline; nothing that a pending change will mend.

    None: it cannot be told, since the timeline, or whom the reader follows, is changing. Such a
    timeline is changed by the drain, or built anew by the reader's next page.
    Safety: right beside living writes: what is missing was posted, then no change that brings it
    was pending any more, and it was not in the timeline after that. Raises: what UNREACHABLE lists.
    Cost: the following list, a round trip, one query per shard; where something is missing twice
    as many again and a round trip.
    """
    difference = _compare(reader_id, seen)
    if difference is None or not difference.missing:
        return difference
    waiting = load_pending_pushes({reader_id, *(one.event.author_id for one in difference.missing)})
    now = timeline_store().peek([reader_id]).get(reader_id)
    if now is None or now.following_version != seen.following_version:
        return None
    if reader_id in waiting.readers:
        return None
    missing = _still_missing(reader_id, difference.missing, now, waiting)
    is_too_deep = difference.is_too_deep and bool(missing)
    return difference._replace(missing=missing, is_too_deep=is_too_deep)


def _still_missing(
    reader_id: int, entries: Sequence[Entry], now: LiveTimeline, waiting: PendingPushes
) -> list[Entry]:
    """Those that a later look does not find either, and that nobody will bring or merge in."""
    arrived, merged = set(_entries(now.packed)), waiting.hot_authors - {reader_id}
    return [
        entry
        for entry in entries
        if entry not in arrived
        and entry.event.second >= now.complete_from
        and entry.event not in waiting.events
        and entry.event.author_id not in merged
    ]


def _compare(reader_id: int, seen: LiveTimeline) -> TimelineDifference | None:
    """Hot followees are left out: what they posted may be there, and need not."""
    following = load_following(reader_id)
    if following.version != seen.following_version:
        return None
    hot = _hot_followees(following.followee_ids)
    authors = [reader_id, *(one for one in following.followee_ids if one not in hot)]
    held = set(_entries(seen.packed))
    # Whoever holds less than this has all of it, or the cut of the pull is a hole by itself.
    most = max(2 * settings.TIMELINE_ENTRIES, len(held)) + 1
    # No entry is at the beginning of a second: no account has the id 0.
    floor = PostId(seen.complete_from, 0, 0)
    right = pull_from_tables(authors, TimeRange(floor), most)
    is_too_deep = len(right) == most
    oldest = right[-1] if is_too_deep else Entry.of_post(floor)
    judged = {e for e in held if e >= oldest and e.event.author_id not in hot}
    below_mark = set(_entries(seen._replace(complete_from=0).packed)) - held
    return TimelineDifference(
        seen,
        missing=sorted(set(right) - held),
        orphaned=sorted(judged - set(right)),
        below_mark=sorted(below_mark),
        expected_count=len(right),
        entry_count=len(held) + len(below_mark),
        is_too_deep=is_too_deep,
    )


def _hot_followees(followee_ids: Iterable[int]) -> set[int]:
    hot = directory.load(redis().call(*validator_command()))
    return set(hot.ids).intersection(followee_ids)


def _entries(packed: Iterable[bytes]) -> list[Entry]:
    return [Entry.from_packed(entry) for entry in packed]
