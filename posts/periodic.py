"""Periodic tasks of posts: ends of polls, scheduled posts, and rows of posts that were deleted."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from infra.clock import now_ms
from infra.jobs.periodic import PeriodicTask
from infra.jobs.time_slices import SlicedJob
from infra.jobs.types import BATCH_SIZE, Batch, Work
from infra.sharding.placement import Placement
from posts.actions.end_polls import end_polls
from posts.jobs.purge_deleted_posts import RETENTION_DAYS, purge_deleted_posts
from posts.scheduled.actions.publish_due import publish_due


def _purge(work: Work) -> Iterator[Batch]:
    return purge_deleted_posts(work, datetime.now(UTC) - timedelta(days=RETENTION_DAYS))


def _end_polls(alias: str) -> int:
    return end_polls(alias, time.time())


def _publish_due(alias: str) -> int:
    return publish_due(alias, now_ms())


PUBLISH_COST = (
    "one query by index; about six short statements for each post that is due, at most 50"
)
END_POLLS_COST = "one query by index; one short statement for each poll that ended, at most 100"
PERIODIC_TASKS = (
    PeriodicTask(
        "end_polls",
        15,
        Placement.SHARDED,
        END_POLLS_COST,
        "Reports ends of polls, so that authors and voters are notified.",
        _end_polls,
    ),
    # Some rows are found and have to stay, so a pass ends only when all rows were read.
    SlicedJob(
        "purge deleted-posts",
        "Deletes the rows of posts that were deleted long ago.",
        _purge,
        BATCH_SIZE,
    ).as_periodic_task(),
    PeriodicTask(
        "publish_due",
        2,
        Placement.SHARDED,
        PUBLISH_COST,
        "Publishes [scheduled posts](api.md#scheduled-posts).",
        _publish_due,
    ),
)
