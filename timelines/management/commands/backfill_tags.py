"""`manage.py backfill_tags`: fills the tag index from the posts.

**When**: after a parked `posts.created` was discarded. It walks the public posts with tags and adds
those that the index lacks. `--shard` and `--account` select by author. **Costs**: per 500 posts one
query on their shard, and two statements for each shard that has one of their tags.
"""

from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from timelines.jobs.backfill_tags import backfill_tags


class Command(JobCommand):
    help = "Adds the public posts with tags that the tag index lacks."
    unit = "posts"
    flags = WALK

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_tags(work)
