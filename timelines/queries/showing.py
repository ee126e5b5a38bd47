"""Shows entries of a timeline: the steps hydrate, rules and present of a page.

A post is *ready* if it is finished in process memory, all rules clear its author, and no account of
this timeline reposted it. Ready posts skip hydration and rules.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from infra.caching.questions import RoundTrip
from posts.api.present import Flags, with_flags, with_reposters
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.cache.viewer_state import load_flags
from posts.ids import PostId, authors_of
from posts.queries.hydrate import NO_POSTS, Hydrated, Hydration
from posts.reading.parts import PartsQuestion, ask_parts
from relations.queries.in_process_relationships import (
    ask_kept_relationships,
    find_kept_relationships,
)
from relations.queries.relationships import Relationships, ask_relationships
from timelines.actions.repair_timeline import request_repair_if_stale
from timelines.queries.skeleton import Skeleton
from timelines.rules import VisibilityInputs, find_clear_authors, merge
from timelines.types import ORIGINAL, Entry, Place, reposts_among

T = TypeVar("T")

# The reposters who are named with a post; a client can ask for the others.
MOST_REPOSTERS = 10


def take(skeleton: Skeleton, entries: Iterator[Entry], count: int) -> list[bytes]:
    """The first `count` visible entries, as Status entities."""
    return collect(partial(show, skeleton), entries, count)


def collect(
    make: Callable[[Sequence[Entry]], list[T]], entries: Iterator[Entry], count: int
) -> list[T]:
    """The first `count` results of `make`, which leaves out entries that are not shown.

    Cost: as `make`, once more for each refill.
    """
    made: list[T] = []
    while len(made) < count:
        batch = _next_posts(entries, count - len(made))
        if not batch:
            break
        made += make(batch)
    return made


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


def show(skeleton: Skeleton, entries: Sequence[Entry]) -> list[bytes]:
    """Status entities, in the order of the entries. Each post is at its newest visible entry only.

    Cost when warm: no round trip if all posts are ready, else one.
    """
    sources = skeleton.list_sources(entries)
    # A viewer who wrote lately must see names and counts as they are now.
    ready = {} if skeleton.viewer_state.wrote_lately else _find_ready(skeleton, sources)
    hydrated, merged = _load_others(skeleton, entries, sources, ready)
    skeleton.note_parts(sources, ready, hydrated)
    # By event: first the ready posts without flags, later all that the viewer sees.
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
    """The same as `show`, but places instead of Status entities."""
    sources = skeleton.list_sources(entries)
    ready = _find_ready(skeleton, sources)
    hydrated, merged = _load_others(skeleton, entries, sources, ready)
    places = {i: Place([Entry.of_post(i)], post.fragment) for i, post in ready.items()}
    for original, visible in merged.items():
        places[visible[0].event] = Place(visible, hydrated.fragments[original])
    return [places[entry.event] for entry in entries if entry.event in places]


def _find_ready(skeleton: Skeleton, sources: Sequence[Entry]) -> dict[PostId, PostCopy]:
    """The ready posts, in the order of `sources`."""
    if skeleton.is_passing:
        return {}
    known = find_kept_relationships(skeleton.reader_id, skeleton.validator)
    if known is None:
        return {}
    clear = find_clear_authors(_inputs(skeleton, NO_POSTS, known))
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
    """The posts to show, and the inputs of the rules. Cost: one round trip."""
    reader_id, reposts = skeleton.reader_id, [event for event, _ in reposts_among(entries)]
    originals = list(map(ORIGINAL, entries))
    authors = authors_of(originals + reposts) - {reader_id}
    trip = RoundTrip()
    posts: Hydration | PartsQuestion
    if skeleton.is_passing:
        posts = ask_parts(trip, originals, reposts)
        relationships = trip.ask(ask_relationships(reader_id, [*authors]))
    else:
        is_current = skeleton.viewer_state.wrote_lately
        posts = Hydration(trip, originals, reposts, skeleton.log_offset, is_current)
        relationships = trip.ask(ask_kept_relationships(reader_id, authors, skeleton.validator))
    trip.run()
    hydrated = posts.value
    return hydrated, _inputs(skeleton, hydrated, relationships.value)


def _inputs(
    skeleton: Skeleton, hydrated: Hydrated, relationships: Relationships
) -> VisibilityInputs:
    return VisibilityInputs(
        skeleton.reader_id,
        skeleton.now_ms,
        hydrated.fragments,
        hydrated.accounts,
        relationships,
        skeleton.replies_to,
    )
