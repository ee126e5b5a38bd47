"""The audit that never ends: a few live timelines of each shard at a time, and those with holes.

timelines.holes:v1:{shard0}   {"at_s": Unix seconds, "expected": entries that there should be,
                               "missing": of those, "holes": {account: entries missing}}
"""

import random
import time
from collections.abc import Mapping

import msgspec
import structlog

from infra.caching.database_reports import DatabaseReports
from infra.sharding.sql import fetch_all, fetch_one
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

# Most accounts have no live timeline: so many are looked at to compare one.
LOOKED_AT, COMPARED = 50, 1
MOST_KNOWN = 20
LATEST = "SELECT coalesce(max(id), 0) FROM accounts_account"
BEHIND = "SELECT id FROM accounts_account WHERE id > %s ORDER BY id LIMIT %s"
KEPT_S = 86_400
log = structlog.get_logger()


class HoleSample(msgspec.Struct):
    """What a shard's samples have found. `expected`, `missing`: of the last that compared any;
    `holes`: entries missing, by account, that still are."""

    at_s: float = 0
    expected: int = 0
    missing: int = 0
    holes: dict[int, int] = {}

    @property
    def complete_ratio(self) -> float:
        """Of what the timelines compared should have had; 1 where nothing was expected."""
        return 1 - self.missing / self.expected if self.expected else 1.0


HOLES = DatabaseReports("timelines.holes:v1", HoleSample, KEPT_S)


def sample_holes(alias: str) -> None:
    """Audits a few timelines of a shard.

    Cost: three round trips and two short queries, and for each of COMPARED timelines, and
    of those with holes, one query on every shard.
    """
    sample_shard(alias, random.random())


def sample_shard(alias: str, draw: float) -> HoleSample:
    """Audits the live timelines behind a place drawn from 0 to 1, and those with holes before."""
    before = HOLES.read([alias]).get(alias, HoleSample())
    after = int(draw * fetch_one(alias, LATEST)[0])  # type: ignore[index]  # an aggregate
    ids = [row[0] for row in fetch_all(alias, BEHIND, (after, LOOKED_AT))]
    fresh = [reader_id for reader_id in ids if reader_id not in before.holes]
    sample = _compare(timeline_store().peek(fresh), COMPARED)
    again = _compare(timeline_store().peek([*before.holes]), MOST_KNOWN)
    news = _holes(sample, {})
    if news:
        log.error("timelines.holes_found", alias=alias, entries=news)
    found = HoleSample(time.time(), before.expected, before.missing)
    if any(one is not None for one in sample.values()):
        found.expected = sum(one.expected_count for one in sample.values() if one)
        found.missing = sum(news.values())
    holes = _holes(again, before.holes) | news
    found.holes = dict(sorted(holes.items())[:MOST_KNOWN])
    HOLES.keep(alias, found)
    return found


def _compare(
    timelines: Mapping[int, LiveTimeline], most: int
) -> dict[int, TimelineDifference | None]:
    chosen = list(timelines.items())[:most]
    return {reader_id: find_difference(reader_id, seen) for reader_id, seen in chosen}


def _holes(
    found: Mapping[int, TimelineDifference | None], before: Mapping[int, int]
) -> dict[int, int]:
    """Entries missing by reader; what was known `before` where it cannot be told just now."""
    counts = {
        reader_id: before.get(reader_id, 0) if one is None else len(one.missing)
        for reader_id, one in found.items()
    }
    return {reader_id: count for reader_id, count in counts.items() if count}
