"""`manage.py audit_tags`: compares the tag index with the posts, and repairs it.

**When**: as [`audit_recent_posts`](#audit_recent_posts), for the tag index. `--shard` selects tags
and authors. `--repair` ends what is derived from lost posts, removes rows of posts that are no
longer public or have not the tag, and adds what is missing. **Costs**: for 500 rows one query, and
one or two on each shard of the other side.

```
$ manage.py audit_tags
account 17: post 80389081244517729552 with #tea was lost
2,408 rows done, 1 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from timelines.jobs.audit_tags import audit_tags


class Command(JobCommand):
    help = (
        "Compares the tag index with the posts. Differences that are not repaired count as failed,"
        " so the exit code is 1."
    )
    unit = "rows"
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_tags(work, options["repair"], self.pause)
