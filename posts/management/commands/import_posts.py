"""`manage.py import_posts`: writes the posts of another system.

**When**: the accounts are there. Answers and reposts come after the posts that they are about, or
in the same 2,000 lines. Posts of the last hour are pushed to live timelines, and polls return them.
Older ones are in every list, index and search; live timelines get them at the end of the run, when
they are dropped and built again. Without older posts they stay. A run that was killed before its
end leaves them as they were: run it again. `--without-attachments` imports the text of posts with
images; without it they are refused.

```
$ manage.py import_posts posts.jsonl --resume
2,400,000 lines done, 1,800,000 changed, 0 failed
```
"""

import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from accounts.types import FIRST_TENANT
from infra.importing.command import ImportCommand
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import PostRecord
from infra.jobs.types import Batch, Work
from posts.external.actions.end_import import end_import
from posts.jobs.import_posts import PostImporter


class Command(ImportCommand):
    help = (
        "Writes the posts in a file of another system, with their dates and without notifications."
        " The same file again changes nothing."
    )
    record = PostRecord
    batch_size = 2_000

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        super().add_job_arguments(parser)
        parser.add_argument(
            "--without-attachments",
            action="store_true",
            help="import the text of posts with images; default: refuse them",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        self._importer = PostImporter(FIRST_TENANT, options["without_attachments"])
        # The run before, which was stopped, may have had some.
        self._importer.has_old = options["resume"]
        return super().iter_batches(work, options)

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        return self._importer.write(records, time.time(), dry_run)

    def finish(self) -> None:
        if self._importer.has_old:
            end_import()
        self._importer.has_old = False
