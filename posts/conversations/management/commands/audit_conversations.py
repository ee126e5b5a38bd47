"""`manage.py audit_conversations`: compares conversations with direct posts, and repairs them.

**When**: as [`audit_responses`](#audit_responses), for direct posts. It compares what accounts have
of direct posts with the posts, both ways. `--repair` ends what is of lost or deleted posts, and
lists the others again. **Costs**: for 500 rows one query, and one or two on each shard of the other
side.

```
$ manage.py audit_conversations
account 17: direct post 80389081244517729553 for 8 was lost
16,410 rows done, 1 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from posts.conversations.jobs.audit_conversations import audit_conversations


class Command(JobCommand):
    help = (
        "Compares the rows of conversations with the direct posts themselves. Differences that are"
        " not repaired count as failed, so the exit code is 1."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_conversations(work, options["repair"], self.pause)
