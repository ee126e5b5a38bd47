"""Compares a stored home timeline with a computed one, entry by entry."""

from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from infra.clock import now_ms
from infra.sharding.probe import ProbeAnswer, probe_all
from posts.ids import PostId
from relations.queries.following import load_following
from timelines.actions.cut_old_entries import first_kept_second
from timelines.hot.directory import load_hot_authors
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.queries.pull import compute_timeline
from timelines.stores.factory import timeline_store
from timelines.types import Entry, LiveTimeline

PAGE = 100
STORE, SHARDS, COMPARISON = "the timeline store", "a shard of a followee", "a store"
MISSING = "MISSING: it should be stored"
DEAD = "DEAD: its post is deleted, or its author is not followed"
BEYOND = "stored below the low-water mark, where no page reads it"
OLDER = "older than the computed timeline"
PULLED = "below the low-water mark: pages pull it when they get there"
MERGED = "by a hot author: merged when a page is read"
MOVING = "a change is pending that adds or removes it"


class Line(NamedTuple):
    """An entry of either timeline. `difference`: why only one has it; empty if both do."""

    entry: Entry
    is_stored: bool
    is_computed: bool
    difference: str

    @property
    def posted_at(self) -> datetime:
        return datetime.fromtimestamp(self.entry.event.posted_at_s, UTC)

    @property
    def is_wrong(self) -> bool:
        return self.difference in (MISSING, DEAD)


class HomeComparison(NamedTuple):
    """A timeline is None if a problem kept it from being read. `stored` is also None without one.

    `difference` None: nothing is stored, or the timeline is changing.
    """

    stored: LiveTimeline | None
    computed: LiveTimeline | None
    difference: TimelineDifference | None
    lines: list[Line]
    problems: list[str]


def read_home(reader_id: int) -> HomeComparison:
    """All entries of both timelines, the newest first. A few more than TIMELINE_ENTRIES.

    It writes nothing and does not extend the timeline's life. Never raises.
    Cost: a pull of a whole home timeline, the cost of `find_difference`, four round trips.
    """
    answers = probe_all({
        STORE: partial(_peek, reader_id),
        SHARDS: partial(_compute, reader_id),
        "Redis": _hot_authors,
    })  # fmt: skip
    stored, computed = answers[STORE].value, answers[SHARDS].value
    compared = _compare(reader_id, stored)
    problems = [answer.problem for answer in (*answers.values(), compared) if answer.problem]
    lines = _lines(stored, computed, compared.value, answers["Redis"].value or set())
    return HomeComparison(stored, computed, compared.value, lines, problems)


def page_of_lines(lines: list[Line], below: PostId | None) -> tuple[list[Line], PostId | None]:
    """At most PAGE lines below an event, and the event below which the next page begins."""
    left = [line for line in lines if below is None or line.entry.event < below]
    shown = left[:PAGE]
    return shown, shown[-1].entry.event if len(left) > PAGE else None


def _peek(reader_id: int) -> LiveTimeline | None:
    return timeline_store().peek([reader_id]).get(reader_id)


def _compute(reader_id: int) -> LiveTimeline:
    return compute_timeline(reader_id, load_following(reader_id), first_kept_second(now_ms()))


def _hot_authors() -> set[int]:
    return set(load_hot_authors().ids)


def _compare(reader_id: int, stored: LiveTimeline | None) -> ProbeAnswer:
    if stored is None:
        return ProbeAnswer(COMPARISON)
    return probe_all({COMPARISON: partial(find_difference, reader_id, stored)})[COMPARISON]


def _lines(
    stored: LiveTimeline | None,
    computed: LiveTimeline | None,
    difference: TimelineDifference | None,
    hot: AbstractSet[int],
) -> list[Line]:
    in_store, right = _entries(stored), _entries(computed)
    missing = set(difference.missing) if difference else set()
    dead = set(difference.orphaned) if difference else set()
    beyond = set(difference.below_mark) if difference else set()

    def explain(entry: Entry) -> str:
        if entry in missing:
            return MISSING
        if entry in dead:
            return DEAD
        if entry in beyond:
            return BEYOND
        if (entry in in_store) == (entry in right) or stored is None or computed is None:
            return ""
        if entry in in_store:
            return _why_stored(entry, stored, computed, hot)
        return _why_computed(entry, stored, hot)

    everything = sorted(in_store | right | missing, reverse=True)
    return [Line(e, e in in_store, e in right, explain(e)) for e in everything]


def _entries(timeline: LiveTimeline | None) -> set[Entry]:
    """All entries, also those below the low-water mark."""
    return set(Entry.split(timeline.data)) if timeline else set()


def _why_stored(
    entry: Entry, stored: LiveTimeline, computed: LiveTimeline, hot: AbstractSet[int]
) -> str:
    second = entry.event.second
    if second < stored.complete_from:
        return BEYOND
    if second < computed.complete_from:
        return OLDER
    return MERGED if entry.event.author_id in hot else MOVING


def _why_computed(entry: Entry, stored: LiveTimeline, hot: AbstractSet[int]) -> str:
    if entry.event.second < stored.complete_from:
        return PULLED
    return MERGED if entry.event.author_id in hot else MOVING
