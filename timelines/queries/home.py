"""A page of a home timeline: skeleton, hydrate, rules, present."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter

from django.db import InterfaceError, OperationalError
from prometheus_client import Counter

from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.caching.questions import RoundTrip
from infra.clock import now_ms
from posts.api.present import page_of_statuses, with_reposters
from posts.cache.viewer_state import Flags, load_flags
from posts.ids import FIRST, LAST, MalformedPostId, PostId, authors_of
from posts.queries.hydrate import Hydrated, Hydration
from relations.queries.in_process_relationships import ask_kept_relationships
from timelines.actions.repair_timeline import request_repair_if_stale
from timelines.polling.late_posts import PolledAuthors, load_late_posts
from timelines.polling.page import poll_page
from timelines.polling.poll import Poll
from timelines.polling.records import Poller, load_records
from timelines.queries.skeleton import HomeSkeleton, Skeleton
from timelines.rules import VisibilityInputs, merge
from timelines.types import ORIGINAL, Entry, TimeRange, reposts_among

# The reposters who are named with a post; a client can ask for the others.
MOST_REPOSTERS = 10
# A page is whole or refused. `without_redis`: the shards gave the whole page. `missing_shard`: a
# shard that the page needs did not answer, so there is no page.
PAGES = Counter(
    "tideline_home_pages_total", "Home pages, by the sources they came from", ["sources"]
)
COMPLETE, WITHOUT_REDIS = PAGES.labels("all"), PAGES.labels("without_redis")
REFUSED = PAGES.labels("missing_shard")
_FIRST = itemgetter(0)


def home_page(
    viewer_id: int,
    window: Window,
    clock_ms: Callable[[], int] = now_ms,
    client: str | None = None,
) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    `client`: who polls, if the window has a lower cursor. The page then has late posts too.
    Cost when warm: two Redis round trips and no SQL; one trip when the posts are in process memory.
    Entries that the rules remove cost one more round trip per refill. For a poll also one query on
    the viewer's shard and two round trips.
    """
    at_ms, authors = clock_ms(), PolledAuthors(viewer_id)
    try:
        poller = Poller(viewer_id, "home", client, window.way)
        poll = begin_poll(poller, authors, window, at_ms)
        skeleton = HomeSkeleton(viewer_id, at_ms, is_polled=poll is not None)
        page = load_page(skeleton, window, poll)
    except (OperationalError, InterfaceError):
        REFUSED.inc()
        raise
    (WITHOUT_REDIS if skeleton.log_offset is None else COMPLETE).inc()
    return page


def begin_poll(poller: Poller, authors: PolledAuthors, window: Window, at_ms: int) -> Poll | None:
    """The late posts for a client that polls; None without a client or a lower cursor.

    Call it before the entries of the page are read. Cost: one round trip, one query.
    """
    lower = window.min_id or window.since_id
    if poller.client is None or lower is None:
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
    if window.min_id is not None:
        return _load_newer_page(skeleton, decode_cursor(window.min_id), window.limit)
    above = decode_cursor(window.since_id) if window.since_id else FIRST
    below = decode_cursor(window.max_id) if window.max_id else LAST
    entries = skeleton.iter_older(TimeRange(above, below))
    shown = _take(skeleton, entries, window.limit + 1)
    return page_of_statuses(shown[: window.limit], has_older=len(shown) > window.limit)


class PolledSkeleton:
    """PolledTimeline of a skeleton."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton

    def take_newer(self, above: PostId, count: int) -> list[bytes]:
        return _take(self._skeleton, self._skeleton.iter_newer(TimeRange(above)), count)

    def take_older(self, time_range: TimeRange, count: int) -> list[bytes]:
        return _take(self._skeleton, self._skeleton.iter_older(time_range), count)

    def take(self, entries: Iterable[Entry], count: int) -> list[bytes]:
        return _take(self._skeleton, iter(self._skeleton.list_arrived(entries)), count)


def _load_newer_page(skeleton: Skeleton, after: PostId, limit: int) -> Page[bytes]:
    """The entries just above the cursor. There is always an older entry: the cursor's own."""
    shown = _take(skeleton, skeleton.iter_newer(TimeRange(above=after)), limit)
    return page_of_statuses(shown[::-1], has_older=True)


def _take(skeleton: Skeleton, entries: Iterator[Entry], count: int) -> list[bytes]:
    """The first `count` visible entries, as Status entities."""
    shown: list[bytes] = []
    while len(shown) < count:
        batch = list(islice(entries, count - len(shown)))
        if not batch:
            break
        shown += _show(skeleton, batch)
    return shown


def _show(skeleton: Skeleton, entries: Sequence[Entry]) -> list[bytes]:
    """Presents the entries that are the newest visible ones of their post, as Status entities.

    Cost when warm: at most one round trip.
    """
    sources = skeleton.list_sources(entries)
    hydrated, inputs = _load(skeleton, sources)
    merged = merge(sources, inputs)
    if skeleton.is_stored and 2 * len(merged) < len(entries):
        request_repair_if_stale(entries, inputs)
    flags = load_flags(skeleton.reader_id, skeleton.viewer_state, merged)
    statuses, newest = hydrated.present_all(merged, flags), list(map(_FIRST, merged.values()))
    for _, original in reposts_among(newest):
        statuses[original] = _present_repost(hydrated, merged[original], flags)
    # On most pages every entry is shown. One comparison of lists is cheaper than a lookup for each.
    shown = entries if newest == entries else filter(set(newest).__contains__, entries)
    return list(map(statuses.__getitem__, map(ORIGINAL, shown)))


def _present_repost(hydrated: Hydrated, sources: Sequence[Entry], flags: Flags) -> bytes:
    event, original = sources[0]
    status = hydrated.present(event, original, flags.get(original, 0))
    reposters = [by.author_id for by, _ in sources[:MOST_REPOSTERS] if by != original]
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
    who_when = viewer_id, skeleton.now_ms
    shown = hydrated.fragments, hydrated.accounts
    inputs = VisibilityInputs(*who_when, *shown, relationships.value, skeleton.replies_to)
    return hydrated, inputs


def decode_cursor(text: str) -> PostId:
    """The status id in a cursor. No such status needs to exist. Raises InvalidCursor."""
    try:
        return PostId.from_cursor(text)
    except MalformedPostId:
        raise InvalidCursor from None
