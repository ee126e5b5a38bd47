"""A page of a home timeline: skeleton, hydrate, rules, present."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import itemgetter

from django.db import InterfaceError, OperationalError
from prometheus_client import Counter

from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.clock import now_ms
from posts.api.present import page_of_statuses, with_reposters
from posts.cache.viewer_state import Flags, find_flags
from posts.ids import FIRST, LAST, MalformedPostId, PostId, authors_of
from posts.queries.hydrate import Hydrated, hydrate
from relations.queries.in_process_relationships import (
    count_in_process_reads,
    find_in_process_relationships,
    keep_in_process_relationships,
)
from relations.queries.relationships import ask_command, complete_relationships
from timelines.queries.skeleton import HomeSkeleton, Skeleton
from timelines.read_repair import request_repair_if_stale
from timelines.rules import VisibilityInputs, merge
from timelines.types import ORIGINAL, Entry, TimeRange, reposts_among

# So many are named with a post; the others can be asked for.
MOST_REPOSTERS = 10
# A page is whole or there is none; this says what it took. Without Redis, or when that began anew a
# moment ago, the shards gave all of it; without a shard that it needs there is no page.
PAGES = Counter(
    "tideline_home_pages_total", "Home pages, by the sources they came from", ["sources"]
)
COMPLETE, WITHOUT_REDIS = PAGES.labels("all"), PAGES.labels("without_redis")
REFUSED = PAGES.labels("missing_shard")
_FIRST = itemgetter(0)


def home_page(viewer_id: int, window: Window, clock_ms: Callable[[], int] = now_ms) -> Page[bytes]:
    """One page of Status entities, newest first; full unless the list ends.

    Cost: two Redis round trips and no SQL when warm, one when what it shows is in process memory;
    entries that the rules take out cost one round trip more per refill.
    """
    try:
        skeleton = HomeSkeleton(viewer_id, clock_ms())
        page = page_of(skeleton, window)
    except (OperationalError, InterfaceError):
        REFUSED.inc()
        raise
    (WITHOUT_REDIS if skeleton.position is None else COMPLETE).inc()
    return page


def page_of(skeleton: Skeleton, window: Window) -> Page[bytes]:
    """The page of a timeline that this is the skeleton of, as `home_page`."""
    if window.min_id is not None:
        return _newer_page(skeleton, decode_cursor(window.min_id), window.limit)
    above = decode_cursor(window.since_id) if window.since_id else FIRST
    below = decode_cursor(window.max_id) if window.max_id else LAST
    entries = skeleton.iter_older(TimeRange(above, below))
    shown = _take(skeleton, entries, window.limit + 1)
    return page_of_statuses(shown[: window.limit], has_older=len(shown) > window.limit)


def _newer_page(skeleton: Skeleton, after: PostId, limit: int) -> Page[bytes]:
    """The entries right above the cursor; there is always something older: the cursor's own."""
    shown = _take(skeleton, skeleton.iter_newer(TimeRange(above=after)), limit)
    return page_of_statuses(shown[::-1], has_older=True)


def _take(skeleton: Skeleton, entries: Iterator[Entry], count: int) -> list[bytes]:
    """The first `count` visible entries, as Status entities; refills what the rules take out."""
    shown: list[bytes] = []
    while len(shown) < count:
        batch = list(islice(entries, count - len(shown)))
        if not batch:
            break
        shown += _show(skeleton, batch)
    return shown


def _show(skeleton: Skeleton, entries: Sequence[Entry]) -> list[bytes]:
    """Hydrates entries and presents those that stand for what they show, being the newest visible
    ones that brought it. At most one round trip when warm."""
    sources = skeleton.sources_of(entries)
    hydrated, facts = _load(skeleton, sources)
    brought = merge(sources, facts)
    if skeleton.is_stored and 2 * len(brought) < len(entries):
        request_repair_if_stale(entries, facts)
    flags = find_flags(skeleton.reader_id, skeleton.own, brought)
    statuses, newest = hydrated.present_all(brought, flags), list(map(_FIRST, brought.values()))
    for _, original in reposts_among(newest):
        statuses[original] = _present_repost(hydrated, brought[original], flags)
    # Most pages are as they were found: to see that takes an eighth of looking each entry up.
    shown = entries if newest == entries else filter(set(newest).__contains__, entries)
    return list(map(statuses.__getitem__, map(ORIGINAL, shown)))


def _present_repost(hydrated: Hydrated, brought: Sequence[Entry], flags: Flags) -> bytes:
    event, original = brought[0]
    status = hydrated.present(event, original, flags.get(original, 0))
    reposters = [by.author_id for by, _ in brought[:MOST_REPOSTERS] if by != original]
    return with_reposters(status, [hydrated.accounts[reposter] for reposter in reposters])


def _load(skeleton: Skeleton, entries: Sequence[Entry]) -> tuple[Hydrated, VisibilityInputs]:
    """What is shown, and what the rules rest on too: what lies between people and the viewer."""
    viewer_id, reposts = skeleton.reader_id, [event for event, _ in reposts_among(entries)]
    originals = list(map(ORIGINAL, entries))
    people = authors_of(originals + reposts) - {viewer_id}
    relationships = find_in_process_relationships(viewer_id, skeleton.stamp)
    asked = list(people.difference(relationships.by_account))
    count_in_process_reads(len(people), len(asked))
    commands = [ask_command(viewer_id, asked)] if asked else []
    hydrated = hydrate(originals, commands, skeleton.position, reposts)
    if asked:
        learnt = complete_relationships(viewer_id, asked, hydrated.extra and hydrated.extra[0])
        keep_in_process_relationships(viewer_id, learnt)
        relationships = relationships.merged_with(learnt)
    fragments, accounts = hydrated.fragments, hydrated.accounts
    facts = VisibilityInputs(
        viewer_id, skeleton.now_ms, fragments, accounts, relationships, skeleton.replies_to
    )
    return hydrated, facts


def decode_cursor(text: str) -> PostId:
    """Raises InvalidCursor. A cursor is a status id; its status may be long gone."""
    try:
        return PostId.from_public(text)
    except MalformedPostId:
        raise InvalidCursor from None
