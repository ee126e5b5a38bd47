"""A page of a home timeline, in four steps: reader, entries, show, page.

The memory is around them: a page is used again while Redis confirms all that it was made of.
"""

from collections.abc import Callable
from sys import getsizeof
from typing import NamedTuple

from django.db import InterfaceError, OperationalError
from prometheus_client import Counter

from infra.api.pages import Page, ReusablePage, Window
from infra.caching.remembered import Memory
from infra.clock import now_ms
from infra.telemetry.gauges import adder
from posts.ids import PostId
from timelines.feeds.feed import collect
from timelines.feeds.page import feed_page, page_around
from timelines.home.feed import HomeFeed
from timelines.home.reader import HomeReader
from timelines.polling.begin import begin_poll, is_poll
from timelines.polling.late_posts import LateAtHome
from timelines.polling.ordinary import enter_by_page
from timelines.polling.records import Poller
from timelines.tags.cache import ask_home_tags
from timelines.types import TimeRange

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
    page = feed_page(HomeFeed(reader, at_ms), window)
    return MadePage(ReusablePage(*page), reader.has_polled.value, reader.has_redis)


def _make_polled(reader_id: int, poller: Poller, window: Window, at_ms: int) -> MadePage:
    """A page with late posts too. It has all that was visible when the late posts were read."""
    home_tags = ask_home_tags(reader_id)
    load_late = LateAtHome(reader_id, home_tags).load
    poll = begin_poll(poller, window, at_ms, load_late, [home_tags])
    reader = HomeReader(reader_id)
    return MadePage(feed_page(HomeFeed(reader, at_ms), window, poll), False, reader.has_redis)


def list_shown_events(
    reader_id: int, time_range: TimeRange, most: int, clock_ms: Callable[[], int] = now_ms
) -> list[PostId]:
    """The events of the newest entries that a page of this range shows, at most `most`.

    Newest first. Cost: as `home_page`, without the JSON.
    """
    timeline = HomeFeed(HomeReader(reader_id), clock_ms())
    entries = timeline.iter_older(time_range)
    return [place.event for place in collect(timeline.list_places, entries, most)]


def _make_around(reader: HomeReader, around: PostId, window: Window, at_ms: int) -> MadePage:
    page = page_around(HomeFeed(reader, at_ms), around, window.limit)
    return MadePage(page, reader.has_polled.value, reader.has_redis)
