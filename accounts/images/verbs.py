"""The command that deletes images that nothing uses."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from accounts.images.jobs import BATCH_SIZE, remove_unused_images
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work


class RemoveUnusedImages(JobCommand):
    """Deletes images that no post and no profile uses: their files, then their rows.

    **When**: it runs automatically, in time slices. By hand after the store of files was away for
    long, or to see with `--dry-run` how many images wait. It deletes images that no post and no
    profile uses: uploads older than a day, images of deleted posts, replaced avatars. **Costs**:
    three statements and one call of the store for each 20 images. **Stopping it**: at any time.
    Files are deleted first and rows second, so the next run finds the rest. While the store is
    away, the rows stay and count as failed.
    """

    name = "purge unused-images"
    unit = "images"
    flags = WALK
    batch_size = BATCH_SIZE

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return remove_unused_images(work, datetime.now(UTC))
