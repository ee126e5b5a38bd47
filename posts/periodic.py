"""The periodic task of posts: deletes the rows of posts that were deleted long ago."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from infra.jobs.time_slices import SlicedJob
from infra.jobs.types import BATCH_SIZE, Batch, Work
from posts.jobs.purge_deleted_posts import RETENTION_DAYS, purge_deleted_posts


def _purge(work: Work) -> Iterator[Batch]:
    return purge_deleted_posts(work, datetime.now(UTC) - timedelta(days=RETENTION_DAYS))


# Some rows are found and have to stay, so a pass ends only when all rows were read.
PERIODIC_TASKS = (SlicedJob("purge_deleted_posts", _purge, BATCH_SIZE).as_periodic_task(),)
