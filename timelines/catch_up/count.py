"""Counts the unread entries of a home timeline."""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import NamedTuple

from infra.clock import now_ms
from timelines.catch_up.unread import find_arrived, list_unread, without_own
from timelines.feeds.feed import collect
from timelines.home.feed import HomeFeed
from timelines.home.reader import HomeReader
from timelines.markers.types import MarkerState
from timelines.types import TimeRange

MOST_COUNTED = 500


class UnreadCount(NamedTuple):
    """`is_more`: there are more than `total`, which is MOST_COUNTED then. Otherwise it is exact."""

    total: int
    is_more: bool


def count_unread_entries(
    reader_id: int, marker: MarkerState, clock_ms: Callable[[], int] = now_ms
) -> UnreadCount:
    """How many entries arrived in the home timeline since the marker, by all rules of a page.

    Cost: one query more than a home page of so many entries, without the JSON.
    """
    at_ms = clock_ms()
    arrived = find_arrived(reader_id, marker, at_ms)
    timeline = HomeFeed(HomeReader(reader_id), at_ms)
    late = timeline.list_arrived(arrived.late)
    entries = chain(timeline.iter_older(TimeRange(arrived.since)), late)
    unread = iter(without_own(reader_id, entries))
    count = len(collect(partial(list_unread, timeline), unread, MOST_COUNTED + 1))
    return UnreadCount(min(count, MOST_COUNTED), count > MOST_COUNTED)
