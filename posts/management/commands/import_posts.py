"""`manage.py import_posts`: writes the posts of another system."""

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
