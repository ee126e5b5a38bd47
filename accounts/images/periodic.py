"""The periodic task of images: deletes those that nothing uses."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from accounts.images.jobs import BATCH_SIZE, remove_unused_images
from infra.jobs.time_slices import SlicedJob
from infra.jobs.types import Batch, Work


def _remove(work: Work) -> Iterator[Batch]:
    return remove_unused_images(work, datetime.now(UTC))


# A complete pass is valid for no time: deleted posts come at any moment.
PERIODIC_TASKS = (
    SlicedJob(
        "purge unused-images",
        "Deletes images that no post and no profile uses: files, then rows.",
        _remove,
        BATCH_SIZE,
        timedelta(0),
    ).as_periodic_task(),
)
