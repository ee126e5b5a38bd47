"""A home timeline as it is stored and as it is computed, entry by entry, and why they differ."""

from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from infra.caching.client import redis
from infra.sharding.probe import ProbeAnswer, probe_all
from posts.ids import PostId
from relations.queries.following import load_following
from timelines.hot.directory import directory, validator_command
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.queries.pull import compute_timeline
from timelines.stores.factory import timeline_store
from timelines.types import Entry, LiveTimeline

PAGE = 100
STORE, SHARDS, COMPARISON = "the store of timelines", "a shard of somebody followed", "a store"
MISSING = "MISSING: it should be stored"
DEAD = "DEAD: its post is gone, or who brought it is not followed"
BEYOND = "stored below the mark, where nobody reads it"
OLDER = "older than what is computed"
PULLED = "below the mark: pulled by whoever pages down to it"
MERGED = "by a hot author: merged in when it is read"
MOVING = "on its way in or out: a change is pending"


class Line(NamedTuple):
    """An entry of either. `verdict`: why it is not in both; empty: it is."""

    entry: Entry
    is_stored: bool
    is_computed: bool
    verdict: str

    @property
    def posted_at(self) -> datetime:
        return datetime.fromtimestamp(self.entry.event.posted_at_s, UTC)

    @property
    def is_wrong(self) -> bool:
        return self.verdict in (MISSING, DEAD)


class Home(NamedTuple):
    """Either side may be None: not live, or not known, then `problems` say why.

    `difference` None: nothing is stored, or it is changing.
    """

    stored: LiveTimeline | None
    computed: LiveTimeline | None
    difference: TimelineDifference | None
    lines: list[Line]
    problems: list[str]


def read_home(reader_id: int) -> Home:
    """All entries of both, the newest first; TIMELINE_ENTRIES or somewhat more.

    Nothing is written, and nothing kept alive. Cost: the pull of a home page from nothing, that of
    `find_difference`, four round trips. Never raises.
    """
    answers = probe_all({
        STORE: partial(_peek, reader_id),
        SHARDS: partial(_compute, reader_id),
        "Redis": _hot_authors,
    })  # fmt: skip
    stored, computed = answers[STORE].value, answers[SHARDS].value
    compared = _compare(reader_id, stored)
    problems = [one.problem for one in (*answers.values(), compared) if one.problem]
    lines = _lines(stored, computed, compared.value, answers["Redis"].value or set())
    return Home(stored, computed, compared.value, lines, problems)


def page_of(lines: list[Line], below: PostId | None) -> tuple[list[Line], PostId | None]:
    """PAGE of them below an event, and below which to go on."""
    left = [line for line in lines if below is None or line.entry.event < below]
    shown = left[:PAGE]
    return shown, shown[-1].entry.event if len(left) > PAGE else None


def _peek(reader_id: int) -> LiveTimeline | None:
    return timeline_store().peek([reader_id]).get(reader_id)


def _compute(reader_id: int) -> LiveTimeline:
    return compute_timeline(reader_id, load_following(reader_id))


def _hot_authors() -> set[int]:
    return set(directory.load(redis().call(*validator_command())).ids)


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
    held, right = _entries(stored), _entries(computed)
    missing = set(difference.missing) if difference else set()
    dead = set(difference.orphaned) if difference else set()
    beyond = set(difference.below_mark) if difference else set()

    def verdict(entry: Entry) -> str:
        if entry in missing:
            return MISSING
        if entry in dead:
            return DEAD
        if entry in beyond:
            return BEYOND
        if (entry in held) == (entry in right) or stored is None or computed is None:
            return ""
        if entry in held:
            return _why_stored(entry, stored, computed, hot)
        return _why_computed(entry, stored, hot)

    everything = sorted(held | right | missing, reverse=True)
    return [Line(e, e in held, e in right, verdict(e)) for e in everything]


def _entries(timeline: LiveTimeline | None) -> set[Entry]:
    """Those below the mark with them."""
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
