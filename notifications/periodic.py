"""The periodic task of notifications: deletes those that are old."""

from collections.abc import Iterator

from infra import clock
from infra.jobs.time_slices import SlicedJob
from infra.jobs.types import Batch, Work
from notifications.jobs.trim_notifications import BATCH_SIZE, trim_notifications


def _trim(work: Work) -> Iterator[Batch]:
    return trim_notifications(work, clock.now_ms())


PERIODIC_TASKS = (
    SlicedJob(
        "purge old-notifications",
        "Deletes notifications that are old, or beyond the number that an owner keeps.",
        _trim,
        BATCH_SIZE,
    ).as_periodic_task(),
)
