"""A page of a home timeline: a kept page if one is still right, else one of the four steps.

The steps are skeleton, hydrate, rules, present. `showing.py` calls the last three.
"""

from collections.abc import Callable, Iterable
from functools import partial

from django.db import InterfaceError, OperationalError
from prometheus_client import Counter

from infra.api.pages import Page, ReusablePage, Window
from infra.clock import now_ms
from infra.read_window import close_window
from infra.shared_thread import need_own_thread
from infra.telemetry.fast_series import adder
from posts.api.present import page_of_statuses
from posts.ids import FIRST, PostId, id_after
from timelines.polling.begin import begin_poll, is_poll
from timelines.polling.late_posts import PolledAuthors, load_late_posts
from timelines.polling.ordinary import enter_by_page
from timelines.polling.page import poll_page
from timelines.polling.poll import Poll
from timelines.polling.records import Poller
from timelines.queries.cursors import range_of
from timelines.queries.first_trip import FirstTrip
from timelines.queries.kept_pages import find_same_page, keep_page
from timelines.queries.last_shown import is_back, keep_last_shown
from timelines.queries.likely_page import LikelyPage
from timelines.queries.plain_pages import PlainRead
from timelines.queries.showing import collect, list_places, take
from timelines.queries.skeleton import HomeSkeleton, Skeleton
from timelines.types import Entry, TimeRange

# A page is whole or refused. `all`: Redis answered. `without_redis`: the shards gave all of the
# page. `missing_shard`: a shard that the page needs did not answer, so there is no page.
PAGES = Counter(
    "tideline_home_pages_total", "Home pages, by the sources they came from", ["sources"]
)
add_complete, add_without_redis = adder(PAGES.labels("all")), adder(PAGES.labels("without_redis"))
REFUSED = PAGES.labels("missing_shard")


def home_page(
    reader_id: int,
    window: Window,
    clock_ms: Callable[[], int] = now_ms,
    client: str | None = None,
    around: PostId | None = None,
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    `client`: who polls, if the window has a lower cursor. The page then has late posts too.
    `around`: the page is around the place of this id, and the window has no cursor.
    Cost when warm: one Redis round trip and no SQL if the posts are in process memory, else two
    trips. If the rules remove entries, one more trip per refill. For a poll also one query on the
    reader's shard and two trips. For the newest page of a client that has polled one more trip.
    """
    at_ms, poller = clock_ms(), Poller(reader_id, "home", client)
    try:
        if around is not None:
            page, trip = _load_around(FirstTrip(reader_id, poller=poller), around, window, at_ms)
        elif is_poll(client, window):
            page, trip = _load_polled(reader_id, poller, window, at_ms)
        else:
            page, trip = _load_likely(reader_id, poller, window, at_ms)
        if trip.has_polled.value:
            enter_by_page(poller, page, at_ms)
    except (OperationalError, InterfaceError):
        REFUSED.inc()
        raise
    (add_without_redis if trip.log.value is None else add_complete)(1)
    return page


def _load_polled(
    reader_id: int, poller: Poller, window: Window, at_ms: int
) -> tuple[Page[bytes], FirstTrip]:
    """A page with late posts too. It has all that was visible when the late posts were read."""
    close_window()
    load_late = partial(load_late_posts, PolledAuthors(reader_id))
    poll = begin_poll(poller, window, at_ms, load_late)
    trip = FirstTrip(reader_id, is_polled=True)
    return load_page(HomeSkeleton(trip, at_ms), window, poll), trip


def _load_likely(
    reader_id: int, poller: Poller, window: Window, at_ms: int
) -> tuple[Page[bytes], FirstTrip]:
    """The likely page, if the first round trip confirms it; else as `_find_or_load`."""
    entered = poller if window.is_newest else None
    if not is_back(reader_id, window.max_id, at_ms):
        need_own_thread()  # a reader's first page mostly reads a shard
        trip = FirstTrip(reader_id, window.max_id, poller=entered, is_passing=True)
        return _load_passing(trip, window, at_ms), trip
    likely = LikelyPage.find(reader_id, window, at_ms)
    trip = FirstTrip(reader_id, window.max_id, likely=likely, poller=entered)
    if likely is not None:
        page = likely.confirm(trip.log, trip.validators, trip.stored, trip.just_read)
        if page is not None:
            return page, trip
        trip.complete()
    return _find_or_load(trip, window, at_ms), trip


def _load_passing(trip: FirstTrip, window: Window, at_ms: int) -> Page[bytes]:
    """A page of which only the ids are kept, so that the reader's next page keeps more."""
    skeleton = HomeSkeleton(trip, at_ms)
    page, parts = load_page(skeleton, window), skeleton.parts
    keep_last_shown(trip.reader_id, window.max_id, parts.originals, parts.reposts, at_ms)
    return page


def _find_or_load(trip: FirstTrip, window: Window, at_ms: int) -> Page[bytes]:
    """The kept page if it would be the same; else one that is made as usual, and kept if possible.

    The trip may have renewed the posts of a kept page that was not usable before.
    """
    reader, inputs = trip.reader_id, trip.find_inputs()
    same = find_same_page(reader, window, inputs, at_ms) if inputs is not None else None
    if same is not None:
        return same
    skeleton = HomeSkeleton(trip, at_ms)
    page = load_page(skeleton, window)
    parts = skeleton.parts
    keep_last_shown(reader, window.max_id, parts.originals, parts.reposts, at_ms)
    if inputs is None or not skeleton.may_keep_page:
        return page
    reusable, moment = ReusablePage(*page), trip.find_moment(at_ms)
    read = PlainRead.find(reader, at_ms, inputs.validators, trip.find_live(), trip.log.value)
    keep_page(window, inputs, parts, reusable, moment, read)
    return reusable


def list_shown_events(
    reader_id: int, time_range: TimeRange, most: int, clock_ms: Callable[[], int] = now_ms
) -> list[PostId]:
    """The events of the newest entries that a page of this range shows, at most `most`.

    Newest first. Cost: as `home_page`, without the JSON.
    """
    skeleton = HomeSkeleton(FirstTrip(reader_id), clock_ms())
    entries = skeleton.iter_older(time_range)
    return [place.event for place in collect(partial(list_places, skeleton), entries, most)]


def load_page(skeleton: Skeleton, window: Window, poll: Poll | None = None) -> Page[bytes]:
    """One page of the timeline with this skeleton, as `home_page`."""
    if poll is not None:
        return poll_page(PolledSkeleton(skeleton), poll, window)
    time_range = range_of(window)
    if window.min_id is not None:
        return _load_newer_page(skeleton, time_range, window.limit)
    shown = take(skeleton, skeleton.iter_older(time_range), window.limit + 1)
    return page_of_statuses(shown[: window.limit], has_older=len(shown) > window.limit)


class PolledSkeleton:
    """PolledTimeline of a skeleton."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton

    def take_newer(self, time_range: TimeRange, count: int) -> list[bytes]:
        return take(self._skeleton, self._skeleton.iter_newer(time_range), count)

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        return take(self._skeleton, self._skeleton.iter_older(time_range), count)

    def take(self, entries: Iterable[Entry], count: int) -> list[bytes]:
        return take(self._skeleton, iter(self._skeleton.list_arrived(entries)), count)


def _load_newer_page(skeleton: Skeleton, time_range: TimeRange, limit: int) -> Page[bytes]:
    """The entries just above the cursor. There is always an older entry: the cursor's own."""
    shown = take(skeleton, skeleton.iter_newer(time_range), limit)
    return page_of_statuses(shown[::-1], has_older=True)


def _load_around(
    trip: FirstTrip, around: PostId, window: Window, at_ms: int
) -> tuple[Page[bytes], FirstTrip]:
    """At most half of the page is newer than the id; the id itself and older entries fill it."""
    skeleton, limit = HomeSkeleton(trip, at_ms), window.limit
    newer = take(skeleton, skeleton.iter_newer(TimeRange(around)), limit // 2)
    rest = limit - len(newer)
    older = take(skeleton, skeleton.iter_older(TimeRange(FIRST, id_after(around))), rest + 1)
    page = page_of_statuses([*newer[::-1], *older[:rest]], has_older=len(older) > rest)
    return page, trip
