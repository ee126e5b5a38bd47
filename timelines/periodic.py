"""The periodic tasks of timelines."""

import time

from infra.jobs.periodic import PeriodicTask
from infra.sharding.placement import Placement
from timelines.actions.repair_timeline import repair_requested_timelines
from timelines.hot.actions.cool import cool_hot_authors
from timelines.recent.days import keep_recent_days
from timelines.sampling import HOLES_AUDIT
from timelines.stores.weeks import keep_timeline_rows
from timelines.trends.actions.compute import compute_trends

PERIODIC_TASKS = (
    PeriodicTask(
        "maintain_recent_days",
        600,
        Placement.SHARDED,
        "five short statements",
        "Creates and drops the daily partitions of the recent-posts index.",
        keep_recent_days,
    ),
    PeriodicTask(
        "maintain_timeline_rows",
        600,
        Placement.SHARDED,
        "five short statements; deletes at most 500 timelines",
        (
            "Creates and drops the weekly partitions of timeline rows; deletes timelines of "
            "readers who are away."
        ),
        keep_timeline_rows,
    ),
    PeriodicTask(
        "cool_hot_authors",
        600,
        Placement.SHARDED,
        "two short queries",
        "Finds hot authors who lost so many followers that posts are pushed to them again.",
        cool_hot_authors,
    ),
    PeriodicTask(
        "sample_holes",
        10,
        Placement.SHARDED,
        "two short queries, three round trips to Redis; one query on every shard for each timeline",
        "Compares a live timeline with what it should hold, and those found incomplete before.",
        HOLES_AUDIT.run,
    ),
    PeriodicTask(
        "compute_trends",
        300,
        Placement.GLOBAL,
        "three queries on each shard of at most 10,000 posts; one round trip to Redis",
        "Computes the [trends](api.md#trends).",
        lambda _: compute_trends(time.time()),
    ),
    PeriodicTask(
        "repair_requested_timelines",
        5,
        Placement.SHARDED,
        "one round trip to Redis; repairs at most 10 timelines",
        "Repairs timelines in which a page found mostly stale entries.",
        repair_requested_timelines,
    ),
)
