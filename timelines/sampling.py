"""The sampling audit of live timelines: compares a few with the posts, and shows the result.

timelines.holes:v1:{shard0}   a SampleReport; `wrong`: entries missing, by account
"""

from collections.abc import Mapping

from accounts.sql import LATEST_ACCOUNT_ID, NEXT_ACCOUNT_IDS
from infra.caching.database_reports import DatabaseReports, ReportCollector, ReportGauge
from infra.jobs.sampling import Sample, SampleReport, SamplingAudit
from infra.sharding.sql import fetch_all, fetch_one
from timelines.queries.difference import TimelineDifference, find_difference
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

# Most accounts have no live timeline, so many accounts are read to compare one timeline.
LOOKED_AT, COMPARED = 50, 1
MAX_WRONG = 20
KEPT_S = 86_400


def _sample(alias: str, draw: float, known: Mapping[int, int]) -> Sample:
    """Compares the first live timelines of accounts after a random place."""
    after = int(draw * fetch_one(alias, LATEST_ACCOUNT_ID)[0])  # type: ignore[index]  # an aggregate
    ids = [row[0] for row in fetch_all(alias, NEXT_ACCOUNT_IDS, (after, LOOKED_AT))]
    fresh = [reader_id for reader_id in ids if reader_id not in known]
    differences = _compare(timeline_store().peek(fresh), COMPARED)
    compared = [difference for difference in differences.values() if difference is not None]
    expected = sum(difference.expected_count for difference in compared) if compared else None
    return Sample(_count_missing(differences, {}), expected)


def _recheck(alias: str, known: Mapping[int, int]) -> Mapping[int, int]:
    """Timelines that were dropped are no longer wrong."""
    return _count_missing(_compare(timeline_store().peek([*known]), MAX_WRONG), known)


def _compare(
    timelines: Mapping[int, LiveTimeline], most: int
) -> dict[int, TimelineDifference | None]:
    chosen = list(timelines.items())[:most]
    return {reader_id: find_difference(reader_id, seen) for reader_id, seen in chosen}


def _count_missing(
    differences: Mapping[int, TimelineDifference | None], known: Mapping[int, int]
) -> dict[int, int]:
    """Missing entries by reader; the `known` number where a timeline cannot be compared now."""
    counts = {
        reader_id: known.get(reader_id, 0) if difference is None else len(difference.missing)
        for reader_id, difference in differences.items()
    }
    return {reader_id: count for reader_id, count in counts.items() if count}


HOLES = DatabaseReports("timelines.holes:v1", SampleReport, KEPT_S)
HOLES_AUDIT = SamplingAudit("timelines.holes_found", HOLES, MAX_WRONG, _sample, _recheck)
HOLES_COLLECTOR = ReportCollector(
    HOLES,
    [
        ReportGauge(
            "tideline_timeline_holes",
            "Entries that sampled timelines lack (`audit timelines`)",
            lambda sample: sum(sample.wrong.values()),
        ),
        ReportGauge(
            "tideline_timeline_complete_ratio",
            "Share that the last sampled have of what they should",
            lambda sample: sample.complete_ratio,
        ),
        ReportGauge(
            "tideline_timeline_sampled_at_seconds",
            "When timelines were last sampled",
            lambda sample: sample.at_s,
        ),
    ],
)
