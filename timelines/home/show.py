"""Shows entries of a timeline: their posts, the rules, and the JSON of what is visible."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple, TypeVar

from infra.caching.questions import answer, ask_both
from posts.addressed import Addressed, find_addressed
from posts.cache.viewer_state import load_flags
from posts.fragments.present import with_reposters
from posts.ids import PostId, authors_of
from posts.reading.hydrate import Hydrated, ask_posts
from relations.queries.relationships import ask_relationships, with_others
from timelines.actions.repair_timeline import request_repair_if_stale
from timelines.home.entries import TimelineEntries
from timelines.home.known_replies import note_replies
from timelines.rules import VisibilityInputs, merge
from timelines.types import ORIGINAL, Entry, Place, reposts_among

T = TypeVar("T")
_EVENT = itemgetter(0)

# The reposters who are named with a post; a client can ask for the others.
MOST_REPOSTERS = 10
LEAST_REFILL = 6


class VisiblePosts(NamedTuple):
    """Hydrated posts, and for each post that is visible its visible entries, newest first."""

    hydrated: Hydrated
    by_post: Mapping[PostId, Sequence[Entry]]


def take(timeline: TimelineEntries, entries: Iterator[Entry], count: int) -> list[bytes]:
    """The first `count` visible entries, as Status entities."""
    return collect(partial(show, timeline), entries, count)


def collect(
    make: Callable[[Sequence[Entry]], list[T]], entries: Iterator[Entry], count: int
) -> list[T]:
    """The first `count` results of `make`, which leaves out entries that are not shown.

    Cost: as `make`, once more for each refill. A refill expects that as many are left out as
    before, so that there is mostly one. Each is twice as long as the one before it: many entries in
    a row may be left out.
    """
    made: list[T] = []
    asked = least = 0
    while len(made) < count:
        missing = count - len(made)
        expected = missing * asked // max(len(made), 1) if asked else missing
        batch = _next_posts(entries, min(max(missing, expected, least), count))
        if not batch:
            break
        least = max(LEAST_REFILL, 2 * least)
        asked += len(batch)
        made += make(batch)
    return made[:count]


def _next_posts(entries: Iterator[Entry], most: int) -> list[Entry]:
    """The next entries, until they show `most` posts. A page shows each post once, so fewer would
    not fill it."""
    batch, posts = [], set[PostId]()
    for entry in entries:
        batch.append(entry)
        posts.add(entry.original)
        if len(posts) == most:
            break
    return batch


def show(timeline: TimelineEntries, entries: Sequence[Entry]) -> list[bytes]:
    """Status entities, in the order of the entries. Each post is at its newest visible entry only.

    Cost when warm: one round trip.
    """
    hydrated, by_post = _load_visible(timeline, entries)
    state = timeline.viewer_state
    flags = load_flags(timeline.reader_id, state, by_post, hydrated.fragments)
    newest = [visible[0] for visible in by_post.values()]
    statuses = hydrated.splice(newest, timeline.reader_id, flags)
    shown = dict(zip(map(_EVENT, newest), statuses, strict=True))
    for event, original in reposts_among(newest):
        shown[event] = _with_reposters(hydrated, shown[event], by_post[original])
    if filters := state.filters:
        shown = {i: filters.apply(status) for i, status in shown.items()}
    return [shown[entry.event] for entry in entries if entry.event in shown]


def list_places(timeline: TimelineEntries, entries: Sequence[Entry]) -> list[Place]:
    """The same as `show`, but places instead of Status entities."""
    hydrated, by_post = _load_visible(timeline, entries)
    places = {
        visible[0].event: Place(visible, hydrated.fragments[original])
        for original, visible in by_post.items()
    }
    return [places[entry.event] for entry in entries if entry.event in places]


def _load_visible(timeline: TimelineEntries, entries: Sequence[Entry]) -> VisiblePosts:
    """The posts of these entries that the rules let the reader see. Cost: one round trip."""
    sources = timeline.list_sources(entries)
    inputs, hydrated = _load(timeline, sources)
    by_post = merge(sources, inputs)
    if timeline.is_stored and 2 * len(by_post) < len(entries):
        request_repair_if_stale(entries, inputs, len(entries))
    return VisiblePosts(hydrated, by_post)


def _load(timeline: TimelineEntries, sources: Sequence[Entry]) -> tuple[VisibilityInputs, Hydrated]:
    """The posts, and the inputs of the rules."""
    reader_id, reposts = timeline.reader_id, [event for event, _ in reposts_among(sources)]
    originals = list(map(ORIGINAL, sources))
    others = authors_of(originals + reposts) - {reader_id}
    posts = ask_posts(originals, reposts)
    hydrated, relationships = answer(ask_both(posts, ask_relationships(reader_id, [*others])))
    addressed = find_addressed(hydrated.fragments)
    inputs = VisibilityInputs(
        reader_id,
        timeline.now_ms,
        hydrated.fragments,
        hydrated.accounts,
        with_others(reader_id, relationships, _list_addressed(addressed, reader_id)),
        addressed,
        timeline.replies,
        timeline.surface,
        timeline.home_tags,
    )
    if timeline.is_stored:
        note_replies(inputs)
    return inputs, hydrated


def _list_addressed(posts: Mapping[PostId, Addressed], reader_id: int) -> set[int]:
    """The accounts whose relationships the rules need."""
    others = (a.account_ids for i, a in posts.items() if i.author_id != reader_id)
    return {account_id for several in others for account_id in several} - {reader_id}


def _with_reposters(hydrated: Hydrated, status: bytes, visible: Sequence[Entry]) -> bytes:
    original = visible[0].original
    reposters = [by.author_id for by, _ in visible[:MOST_REPOSTERS] if by != original]
    return with_reposters(status, [hydrated.accounts[reposter] for reposter in reposters])
