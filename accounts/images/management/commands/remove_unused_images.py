"""`manage.py remove_unused_images`: deletes images that no post and no profile uses."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from accounts.images.jobs.remove_unused_images import BATCH_SIZE, remove_unused_images
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work


class Command(JobCommand):
    help = "Deletes images that no post and no profile uses: their files, then their rows."
    unit = "images"
    flags = WALK
    batch_size = BATCH_SIZE

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return remove_unused_images(work, datetime.now(UTC))
