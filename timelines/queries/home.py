"""A page of a home timeline: skeleton, hydrate, rules, present."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

from django.db import InterfaceError, OperationalError
from prometheus_client import Counter

from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.caching.questions import RoundTrip
from infra.clock import now_ms
from posts.api.present import Flags, page_of_statuses, with_flags, with_reposters
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.cache.viewer_state import load_flags
from posts.ids import FIRST, LAST, MalformedPostId, PostId, authors_of, id_after
from posts.queries.hydrate import NO_POSTS, Hydrated, Hydration
from relations.queries.in_process_relationships import (
    ask_kept_relationships,
    find_kept_relationships,
)
from relations.queries.relationships import Relationships
from timelines.actions.repair_timeline import request_repair_if_stale
from timelines.polling.late_posts import PolledAuthors, load_late_posts
from timelines.polling.page import poll_page
from timelines.polling.poll import Poll
from timelines.polling.records import Poller, load_records
from timelines.queries.kept_pages import PageMoment, find_kept_page, keep_page
from timelines.queries.last_shown import keep_last_shown
from timelines.queries.skeleton import FirstTrip, HomeSkeleton, Skeleton
from timelines.rules import VisibilityInputs, find_clear_authors, merge
from timelines.types import ORIGINAL, Entry, Place, TimeRange, reposts_among

T = TypeVar("T")

# The reposters who are named with a post; a client can ask for the others.
MOST_REPOSTERS = 10
# A page is whole or refused. `without_redis`: the shards gave the whole page. `missing_shard`: a
# shard that the page needs did not answer, so there is no page.
PAGES = Counter(
    "tideline_home_pages_total", "Home pages, by the sources they came from", ["sources"]
)
COMPLETE, WITHOUT_REDIS = PAGES.labels("all"), PAGES.labels("without_redis")
REFUSED = PAGES.labels("missing_shard")


def home_page(
    viewer_id: int,
    window: Window,
    clock_ms: Callable[[], int] = now_ms,
    client: str | None = None,
    around: PostId | None = None,
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    `client`: who polls, if the window has a lower cursor. The page then has late posts too.
    `around`: the place of this id is inside the page, and the window has no cursor.
    Cost when warm: two Redis round trips and no SQL; one trip when the posts are in process memory.
    Entries that the rules remove cost one more round trip per refill. For a poll also one query on
    the viewer's shard and two round trips.
    """
    at_ms, authors = clock_ms(), PolledAuthors(viewer_id)
    try:
        poller = Poller(viewer_id, "home", client, window.way)
        poll = begin_poll(poller, authors, window, at_ms)
        trip = FirstTrip(viewer_id, is_polled=poll is not None)
        if around is not None:
            page = _load_page_around(HomeSkeleton(trip, at_ms), around, window.limit)
        elif poll is None:
            page = _load_unless_kept(trip, window, at_ms)
        else:
            page = load_page(HomeSkeleton(trip, at_ms), window, poll)
    except (OperationalError, InterfaceError):
        REFUSED.inc()
        raise
    (WITHOUT_REDIS if trip.log.value is None else COMPLETE).inc()
    return page


def _load_unless_kept(trip: FirstTrip, window: Window, at_ms: int) -> Page[bytes]:
    """The page that this process kept, if it would be the same; else a new one."""
    reader, inputs = trip.reader_id, trip.find_inputs()
    kept = find_kept_page(reader, window, inputs, at_ms) if inputs is not None else None
    if kept is not None:
        return kept
    skeleton = HomeSkeleton(trip, at_ms)
    page = load_page(skeleton, window)
    parts = skeleton.parts
    keep_last_shown(reader, parts.statuses, parts.reposts)
    if inputs is not None and skeleton.may_keep_page:
        moment = PageMoment(reader, at_ms, trip.log.value)
        keep_page(window, inputs, parts, page, moment)
    return page


def list_shown_events(
    viewer_id: int, time_range: TimeRange, most: int, clock_ms: Callable[[], int] = now_ms
) -> list[PostId]:
    """The events of the newest entries that a page of this range shows, at most `most`.

    Newest first. Cost: as `home_page`, without the JSON.
    """
    skeleton = HomeSkeleton(FirstTrip(viewer_id), clock_ms())
    entries = skeleton.iter_older(time_range)
    return [place.event for place in collect(partial(list_places, skeleton), entries, most)]


def begin_poll(poller: Poller, authors: PolledAuthors, window: Window, at_ms: int) -> Poll | None:
    """The late posts for a client that polls; None without a client or a lower cursor,
    and for a gap.

    Call it before the entries of the page are read. Cost: one round trip, one query.
    """
    lower = window.min_id or window.since_id
    if poller.client is None or lower is None or window.is_gap:
        return None
    cursor, records = decode_cursor(lower), load_records(poller)
    below = decode_cursor(window.max_id) if window.max_id else LAST
    record = records.get(cursor)
    late = load_late_posts(authors, cursor, record.floor if record else None)
    return Poll(poller, cursor, below, records, late, at_ms)


def load_page(skeleton: Skeleton, window: Window, poll: Poll | None = None) -> Page[bytes]:
    """One page of the timeline with this skeleton, as `home_page`."""
    if poll is not None:
        return poll_page(PolledSkeleton(skeleton), poll, window)
    below = decode_cursor(window.max_id) if window.max_id else LAST
    if window.min_id is not None:
        above = decode_cursor(window.min_id)
        return _load_newer_page(skeleton, TimeRange(above, below), window.limit)
    above = decode_cursor(window.since_id) if window.since_id else FIRST
    entries = skeleton.iter_older(TimeRange(above, below))
    shown = take(skeleton, entries, window.limit + 1)
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


def _load_page_around(skeleton: Skeleton, around: PostId, limit: int) -> Page[bytes]:
    """At most half of the page is newer than the id; the id itself and older entries fill it."""
    newer = take(skeleton, skeleton.iter_newer(TimeRange(around)), limit // 2)
    rest = limit - len(newer)
    older = take(skeleton, skeleton.iter_older(TimeRange(FIRST, id_after(around))), rest + 1)
    return page_of_statuses([*newer[::-1], *older[:rest]], has_older=len(older) > rest)


def take(skeleton: Skeleton, entries: Iterator[Entry], count: int) -> list[bytes]:
    """The first `count` visible entries, as Status entities."""
    return collect(partial(show, skeleton), entries, count)


def collect(
    make: Callable[[Sequence[Entry]], list[T]], entries: Iterator[Entry], count: int
) -> list[T]:
    """What `make` makes of the first `count` entries that it does not leave out."""
    made: list[T] = []
    while len(made) < count:
        batch = list(islice(entries, count - len(made)))
        if not batch:
            break
        made += make(batch)
    return made


def show(skeleton: Skeleton, entries: Sequence[Entry]) -> list[bytes]:
    """Presents the entries that are the newest visible ones of their post, as Status entities.

    Cost when warm: no round trip if all posts are finished in process memory, else one.
    """
    sources = skeleton.list_sources(entries)
    # A viewer who wrote lately must see names and counts as they are now.
    ready = {} if skeleton.viewer_state.wrote_lately else _find_ready(skeleton, sources)
    hydrated, merged = _load_others(skeleton, entries, sources, ready)
    skeleton.note_parts(sources, ready, hydrated)
    shown = {i: post.text for i, post in ready.items()}
    posts = {**shown, **{i: hydrated.fragments[i] for i in merged}} if merged else shown
    flags = load_flags(skeleton.reader_id, skeleton.viewer_state, posts)
    for i in shown.keys() & flags.keys():
        shown[i] = with_flags(shown[i], flags[i])
    for newest, *older in merged.values():
        shown[newest.event] = _present(hydrated, newest, older, flags)
    if filters := skeleton.viewer_state.filters:
        shown = {i: filters.apply(status) for i, status in shown.items()}
    if len(ready) == len(sources):
        return list(shown.values())
    return [shown[entry.event] for entry in entries if entry.event in shown]


def list_places(skeleton: Skeleton, entries: Sequence[Entry]) -> list[Place]:
    """The places of the entries that `show` presents, in their order. Cost: as `show`."""
    sources = skeleton.list_sources(entries)
    ready = _find_ready(skeleton, sources)
    hydrated, merged = _load_others(skeleton, entries, sources, ready)
    places = {i: Place([Entry.of_post(i)], post.fragment) for i, post in ready.items()}
    for original, visible in merged.items():
        places[visible[0].event] = Place(visible, hydrated.fragments[original])
    return [places[entry.event] for entry in entries if entry.event in places]


def _find_ready(skeleton: Skeleton, sources: Sequence[Entry]) -> dict[PostId, PostCopy]:
    """The posts that are finished in process memory, that all rules allow, and that no account of
    this timeline reposted. In the order of `sources`."""
    known = find_kept_relationships(skeleton.reader_id, skeleton.validator)
    if known is None:
        return {}
    clear = find_clear_authors(_inputs(skeleton, {}, {}, known))
    reposted = {original for _, original in reposts_among(sources)}
    posts = [e.event for e in sources if e.event.author_id in clear and e.original not in reposted]
    return in_process_posts.find_finished(posts, skeleton.log_offset)


def _load_others(
    skeleton: Skeleton,
    entries: Sequence[Entry],
    sources: Sequence[Entry],
    ready: Mapping[PostId, PostCopy],
) -> tuple[Hydrated, Mapping[PostId, Sequence[Entry]]]:
    """The posts that are not ready, and their visible entries by post."""
    others = [entry for entry in sources if entry.original not in ready]
    if not others:
        return NO_POSTS, {}
    hydrated, inputs = _load(skeleton, others)
    merged = merge(others, inputs)
    if skeleton.is_stored and 2 * (len(ready) + len(merged)) < len(entries):
        rest = [entry for entry in entries if entry.original not in ready]
        request_repair_if_stale(rest, inputs, len(entries))
    return hydrated, merged


def _present(hydrated: Hydrated, newest: Entry, older: Sequence[Entry], flags: Flags) -> bytes:
    event, original = newest
    status = hydrated.present(event, original, flags.get(original, 0))
    if event == original:
        return status
    reposters = [by.author_id for by, _ in [newest, *older][:MOST_REPOSTERS] if by != original]
    return with_reposters(status, [hydrated.accounts[reposter] for reposter in reposters])


def _load(skeleton: Skeleton, entries: Sequence[Entry]) -> tuple[Hydrated, VisibilityInputs]:
    """The posts to show, and the inputs of the rules."""
    viewer_id, reposts = skeleton.reader_id, [event for event, _ in reposts_among(entries)]
    originals = list(map(ORIGINAL, entries))
    people = authors_of(originals + reposts) - {viewer_id}
    is_current = skeleton.viewer_state.wrote_lately
    trip = RoundTrip()
    posts = Hydration(trip, originals, reposts, skeleton.log_offset, is_current)
    relationships = trip.ask(ask_kept_relationships(viewer_id, people, skeleton.validator))
    trip.run()
    hydrated = posts.value
    shown = hydrated.fragments, hydrated.accounts
    return hydrated, _inputs(skeleton, *shown, relationships.value)


def _inputs(
    skeleton: Skeleton,
    fragments: Mapping[PostId, bytes],
    accounts: Mapping[int, bytes],
    relationships: Relationships,
) -> VisibilityInputs:
    who_when = skeleton.reader_id, skeleton.now_ms
    return VisibilityInputs(*who_when, fragments, accounts, relationships, skeleton.replies_to)


def decode_cursor(text: str) -> PostId:
    """The status id in a cursor. No such status needs to exist. Raises InvalidCursor."""
    try:
        return PostId.from_cursor(text)
    except MalformedPostId:
        raise InvalidCursor from None
