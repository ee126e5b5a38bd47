"""The pages of a catch-up: all that arrived in a home timeline since its marker, up to a bound."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from infra.api.errors import InvalidCursor
from infra.clock import now_ms
from posts.fragments.read import find_replied_to, post_id_of
from posts.ids import LAST, PostId, id_after
from timelines.catch_up.cache import find_catch_up, keep_catch_up
from timelines.catch_up.entries import CatchUpEntries
from timelines.catch_up.order import order_places
from timelines.catch_up.types import Bound, CatchUp, CatchUpPage, Exclusions
from timelines.catch_up.unread import (
    Arrived,
    find_arrived,
    list_unread,
    load_arrived_until,
    without_own,
)
from timelines.feeds.feed import collect
from timelines.home.reader import HomeReader
from timelines.markers.cache import load_markers
from timelines.markers.types import Timeline
from timelines.types import Entry, Place, TimeRange

# A catch-up looks at so many entries; it says from where on it left older ones out.
MOST_ENTRIES = 2_000


class CatchUpRequest(NamedTuple):
    """`bound`: of an earlier page, None for the entries up to now. `after`: the last event of the
    page before."""

    reader_id: int
    limit: int
    exclusions: Exclusions = Exclusions()
    bound: Bound | None = None
    after: PostId | None = None


def catch_up_page(request: CatchUpRequest, clock_ms: Callable[[], int] = now_ms) -> CatchUpPage:
    """One page, full unless the catch-up ends. All rules of home hold at each page.

    Raises: InvalidCursor. Cost of a first page: two queries more than a home page of so many
    entries; its posts are hydrated to see which are visible. Of a later one: a home page.
    """
    at_ms, kept = clock_ms(), _find_kept(request)
    if kept is not None:
        timeline = _entries_of(request, kept.bound, at_ms)
        return _make_page(request, kept, timeline)
    arrived = _find_arrived(request, at_ms)
    timeline = _entries_of(request, request.bound, at_ms)
    whole = _order(request, arrived, timeline)
    page = _make_page(request, whole, timeline)
    if page.after is not None:
        keep_catch_up(request.reader_id, whole, request.exclusions)
    return page


def _find_kept(request: CatchUpRequest) -> CatchUp | None:
    if request.bound is None or request.after is None:
        return None
    return find_catch_up(request.reader_id, request.bound, request.exclusions)


def _find_arrived(request: CatchUpRequest, at_ms: int) -> Arrived:
    if request.bound is not None:
        return load_arrived_until(request.reader_id, request.bound)
    marker = load_markers(request.reader_id, [Timeline.HOME]).get(Timeline.HOME)
    return find_arrived(request.reader_id, marker, at_ms)


def _entries_of(request: CatchUpRequest, bound: Bound | None, at_ms: int) -> CatchUpEntries:
    reader = HomeReader(request.reader_id)
    return CatchUpEntries(reader, at_ms, bound.until if bound else LAST, request.exclusions)


def _order(request: CatchUpRequest, arrived: Arrived, timeline: CatchUpEntries) -> CatchUp:
    """The whole catch-up. At most MOST_ENTRIES entries are looked at, the newest ones."""
    below = id_after(request.bound.until) if request.bound else LAST
    newest = timeline.list_newest(TimeRange(arrived.since, below), MOST_ENTRIES + 1)
    until = newest[0].event if newest else arrived.since
    bound = request.bound or Bound(arrived.since, until, arrived.floor_ms, arrived.seen_ms)
    late = list(timeline.list_arrived(arrived.late))[:MOST_ENTRIES]
    kept = newest[: MOST_ENTRIES - len(late)]
    places = _list_places(request, timeline, [*kept, *late])
    together, grouped = order_places(request.reader_id, places)
    left_below = None
    if len(kept) < len(newest):
        left_below = kept[-1].event if kept else id_after(until)
    return CatchUp(bound, left_below, len(together), [*together, *grouped])


def _list_places(
    request: CatchUpRequest, timeline: CatchUpEntries, entries: Sequence[Entry]
) -> list[Place]:
    others = filter(timeline.has, without_own(request.reader_id, entries))
    places = collect(partial(list_unread, timeline), others, MOST_ENTRIES)
    if not request.exclusions.replies:
        return places
    return [place for place in places if not _is_reply(place)]


def _is_reply(place: Place) -> bool:
    """A repost of a reply is none, and neither is a reply to the author's own post."""
    event = place.entry.event
    is_post = event == place.entry.original
    return is_post and find_replied_to(place.fragment) not in (None, event.author_id)


def _make_page(request: CatchUpRequest, whole: CatchUp, timeline: CatchUpEntries) -> CatchUpPage:
    further = islice(whole.entries, _place_after(whole, request.after), None)
    statuses = collect(partial(_show, timeline), further, request.limit + 1)
    shown = dict(statuses[: request.limit])
    after = next(reversed(shown)) if len(statuses) > request.limit else None
    return CatchUpPage(whole, request.after, shown, after)


def _place_after(whole: CatchUp, after: PostId | None) -> int:
    if after is None:
        return 0
    for place, entry in enumerate(whole.entries):
        if entry.event == after:
            return place + 1
    raise InvalidCursor


def _show(timeline: CatchUpEntries, entries: Sequence[Entry]) -> list[tuple[PostId, bytes]]:
    """The Status entities of the entries that are still visible, in the order of the entries."""
    statuses = timeline.show(sorted(entries, reverse=True))
    shown = {post_id_of(status): status for status in statuses}
    return [(entry.event, shown[entry.event]) for entry in entries if entry.event in shown]
