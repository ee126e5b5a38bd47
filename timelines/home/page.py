"""A page of a home timeline, in four steps: reader, entries, show, page.

The memory is around them: a page is used again while Redis confirms all that it was made of.
"""

from collections.abc import Callable, Iterable
from functools import partial
from sys import getsizeof
from typing import NamedTuple

from django.db import InterfaceError, OperationalError
from prometheus_client import Counter

from infra.api.pages import Page, ReusablePage, Window
from infra.caching.remembered import Memory
from infra.clock import now_ms
from infra.telemetry.gauges import adder
from posts.fragments.present import page_of_statuses
from posts.ids import FIRST, PostId, id_after
from timelines.home.entries import HomeEntries, TimelineEntries
from timelines.home.reader import HomeReader
from timelines.home.show import collect, list_places, take
from timelines.polling.begin import begin_poll, is_poll
from timelines.polling.late_posts import LateAtHome
from timelines.polling.ordinary import enter_by_page
from timelines.polling.page import poll_page
from timelines.polling.poll import Poll
from timelines.polling.records import Poller
from timelines.queries.cursors import range_of
from timelines.tags.cache import ask_home_tags
from timelines.types import Entry, TimeRange

# A page is whole or refused. `all`: Redis answered. `without_redis`: the shards gave all of the
# page. `missing_shard`: a shard that the page needs did not answer, so there is no page.
PAGES = Counter(
    "tideline_home_pages_total",
    (
        "Home pages: `all`, `without_redis` (the shards gave all of it), `missing_shard` "
        "(there was none)"
    ),
    ["sources"],
)
add_complete, add_without_redis = adder(PAGES.labels("all")), adder(PAGES.labels("without_redis"))
REFUSED = PAGES.labels("missing_shard")


class MadePage(NamedTuple):
    """`has_polled`: a client with the token of the request has polled, so the page is entered."""

    page: Page[bytes]
    has_polled: bool
    has_redis: bool


_pages: Memory[MadePage] = Memory(
    "timelines.home_pages", lambda made: sum(map(getsizeof, made.page.items))
)


def home_page(
    reader_id: int,
    window: Window,
    clock_ms: Callable[[], int] = now_ms,
    client: str | None = None,
    around: PostId | None = None,
    most_replaced: int = 0,
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    `client`: who polls, if the window has a lower cursor. The page then has late posts too.
    `around`: the page is around the place of this id, and the window has no cursor.
    `most_replaced`: promotions may take the place of so many of the last entries.
    Cost when warm: two Redis round trips and no SQL; one if this process remembers the page. If the
    rules remove entries, one more trip per refill. For a poll also one query on the reader's shard
    and two trips. For the newest page of a client that has polled one more trip.
    """
    at_ms, poller = clock_ms(), Poller(reader_id, "home", client)
    try:
        made = _load(poller, reader_id, window, at_ms, around)
        if made.has_polled:
            enter_by_page(poller, _surely_shown(made.page, window.limit - most_replaced), at_ms)
    except (OperationalError, InterfaceError):
        REFUSED.inc()
        raise
    (add_complete if made.has_redis else add_without_redis)(1)
    return made.page


def _surely_shown(page: Page[bytes], count: int) -> Page[bytes]:
    """Without the entries whose place a promotion may take: a poll may have to return them."""
    return page._replace(items=page.items[: max(1, count)])


def _load(
    poller: Poller, reader_id: int, window: Window, at_ms: int, around: PostId | None
) -> MadePage:
    if around is not None:
        return _make_around(HomeReader(reader_id, poller), around, window, at_ms)
    if is_poll(poller.client, window):
        return _make_polled(reader_id, poller, window, at_ms)
    entered = poller if window.is_newest else None
    key = reader_id, window, poller.client if entered else None
    return _pages.find_or_make(
        key, at_ms, lambda: _make(HomeReader(reader_id, entered), window, at_ms)
    )


def _make(reader: HomeReader, window: Window, at_ms: int) -> MadePage:
    page = load_page(HomeEntries(reader, at_ms), window)
    return MadePage(ReusablePage(*page), reader.has_polled.value, reader.has_redis)


def _make_polled(reader_id: int, poller: Poller, window: Window, at_ms: int) -> MadePage:
    """A page with late posts too. It has all that was visible when the late posts were read."""
    home_tags = ask_home_tags(reader_id)
    load_late = LateAtHome(reader_id, home_tags).load
    poll = begin_poll(poller, window, at_ms, load_late, [home_tags])
    reader = HomeReader(reader_id)
    return MadePage(load_page(HomeEntries(reader, at_ms), window, poll), False, reader.has_redis)


def list_shown_events(
    reader_id: int, time_range: TimeRange, most: int, clock_ms: Callable[[], int] = now_ms
) -> list[PostId]:
    """The events of the newest entries that a page of this range shows, at most `most`.

    Newest first. Cost: as `home_page`, without the JSON.
    """
    timeline = HomeEntries(HomeReader(reader_id), clock_ms())
    entries = timeline.iter_older(time_range)
    return [place.event for place in collect(partial(list_places, timeline), entries, most)]


def load_page(timeline: TimelineEntries, window: Window, poll: Poll | None = None) -> Page[bytes]:
    """One page of the timeline with these entries, as `home_page`."""
    if poll is not None:
        return poll_page(PolledEntries(timeline), poll, window)
    time_range = range_of(window)
    if window.min_id is not None:
        return _load_newer_page(timeline, time_range, window.limit)
    shown = take(timeline, timeline.iter_older(time_range), window.limit + 1)
    return page_of_statuses(shown[: window.limit], has_older=len(shown) > window.limit)


class PolledEntries:
    """PolledTimeline of entries."""

    def __init__(self, timeline: TimelineEntries) -> None:
        self._timeline = timeline

    def take_newer(self, time_range: TimeRange, count: int) -> list[bytes]:
        return take(self._timeline, self._timeline.iter_newer(time_range), count)

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        return take(self._timeline, self._timeline.iter_older(time_range), count)

    def take(self, entries: Iterable[Entry], count: int) -> list[bytes]:
        return take(self._timeline, iter(self._timeline.list_arrived(entries)), count)


def _load_newer_page(timeline: TimelineEntries, time_range: TimeRange, limit: int) -> Page[bytes]:
    """The entries just above the cursor. There is always an older entry: the cursor's own."""
    shown = take(timeline, timeline.iter_newer(time_range), limit)
    return page_of_statuses(shown[::-1], has_older=True)


def _make_around(reader: HomeReader, around: PostId, window: Window, at_ms: int) -> MadePage:
    """At most half of the page is newer than the id; the id itself and older entries fill it."""
    timeline, limit = HomeEntries(reader, at_ms), window.limit
    newer = take(timeline, timeline.iter_newer(TimeRange(around)), limit // 2)
    left = limit - len(newer)
    older = take(timeline, timeline.iter_older(TimeRange(FIRST, id_after(around))), left + 1)
    page = page_of_statuses([*newer[::-1], *older[:left]], has_older=len(older) > left)
    return MadePage(page, reader.has_polled.value, reader.has_redis)
