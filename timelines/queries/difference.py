"""What a live timeline has against what the posts tables say: entries missing, entries dead.

Truth is what is posted by whom the reader follows; whether it may be seen now is for the rules.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.conf import settings

from posts.ids import PostId
from relations.queries.following import load_following
from timelines.queries.pull import pull_from_tables
from timelines.queries.span import Circle, Span
from timelines.queries.waiting import find_waiting
from timelines.stores.chosen import timeline_store
from timelines.types import Entry, LiveTimeline


class Difference(NamedTuple):
    """Of one reader. Entries are in page order, oldest first, each once.

    `missing`: holes, at or above the mark. `stale`: dead entries there: their post is gone, or who
    brought it is not followed. `beyond`: entries below the mark, which nobody reads.
    `expected_count`: entries there should be. `is_too_deep`: the mark promises so much more than
    is held that `missing` is not all.
    """

    seen: LiveTimeline
    missing: Sequence[Entry]
    stale: Sequence[Entry]
    beyond: Sequence[Entry]
    expected_count: int
    is_too_deep: bool = False

    @property
    def dead(self) -> list[Entry]:
        return [*self.stale, *self.beyond]

    def __bool__(self) -> bool:
        return bool(self.missing or self.stale or self.beyond)


def find_difference(reader_id: int, seen: LiveTimeline) -> Difference | None:
    """What is wrong for good with a timeline; nothing that a pending change will mend.

    None: it cannot be told, since the timeline, or whom the reader follows, is changing. Such a
    timeline is changed by the drain, or built anew by the reader's next page.
    Safety: right beside living writes: what is missing was posted, then no change that brings it
    was pending any more, and it was not in the timeline after that. Raises: what UNREACHABLE lists.
    Cost: the following list, one query per shard; where something is missing as many again and a
    round trip.
    """
    difference = _compare(reader_id, seen)
    if difference is None or not difference.missing:
        return difference
    waiting = find_waiting({reader_id, *(one.event.author_id for one in difference.missing)})
    now = timeline_store().peek([reader_id]).get(reader_id)
    if (
        reader_id in waiting.readers
        or now is None
        or now.following_version != seen.following_version
    ):
        return None
    arrived = set(_entries(now.packed))
    missing = [
        entry
        for entry in difference.missing
        if entry not in arrived
        and entry.event.second >= now.complete_from
        and entry.event not in waiting.events
    ]
    is_too_deep = difference.is_too_deep and bool(missing)
    return difference._replace(missing=missing, is_too_deep=is_too_deep)


def _compare(reader_id: int, seen: LiveTimeline) -> Difference | None:
    following = load_following(reader_id)
    if following.version != seen.following_version:
        return None
    held = _entries(set(seen.packed))
    # Whoever holds less than this has all of it, or the cut of the pull is a hole by itself.
    most = max(2 * settings.TIMELINE_ENTRIES, len(held)) + 1
    circle, span = Circle(reader_id, following.followee_ids), Span(_first_of(seen.complete_from))
    right = pull_from_tables(circle.author_ids, span, most)
    is_too_deep = len(right) == most
    oldest = right[-1] if is_too_deep else Entry.of_post(span.above)
    missing, stale = set(right) - set(held), {e for e in held if e >= oldest} - set(right)
    beyond = set(_entries(_all_packed(seen))) - set(held)
    return Difference(seen, sorted(missing), sorted(stale), sorted(beyond), len(right), is_too_deep)


def _all_packed(seen: LiveTimeline) -> list[bytes]:
    return seen._replace(complete_from=0).packed


def _entries(packed: Iterable[bytes]) -> list[Entry]:
    return [Entry.from_packed(entry) for entry in packed]


def _first_of(second: int) -> PostId:
    """Right below every entry of this second."""
    return PostId(second, 0, 0)
