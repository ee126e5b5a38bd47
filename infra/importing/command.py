"""The frame of the commands that import."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from infra.importing.deliver import MOST_PENDING, deliver_imports
from infra.importing.formats import FORMATS
from infra.importing.job import NumberedRecord, WrittenBatch, import_lines
from infra.importing.lines import STDIN
from infra.importing.refused_lines import refused_file
from infra.importing.types import Record
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work


class ImportCommand(JobCommand):
    """A subclass names its `record` and implements `write`, and `finish` if it has to."""

    flags = frozenset(
        (JobFlag.DRY_RUN, JobFlag.RESUME, JobFlag.LIMIT, JobFlag.BATCH_SIZE, JobFlag.RATE)
    )
    unit = "lines"
    batch_size = 5_000
    record: ClassVar[type[Record]]

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        """Writes the records. Idempotent; committed on return."""
        raise NotImplementedError

    def finish(self) -> None:
        """Is called when all that was written is delivered: at the end, and in each silence of
        standard input. Idempotent."""

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help=f"lines, plain or gzip; {STDIN}: standard input")
        parser.add_argument(
            "--format", choices=FORMATS, default="json_lines", help="default: json_lines"
        )
        parser.add_argument(
            "--refused", type=Path, metavar="FILE", help="append the refused lines to this file"
        )

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return FORMATS[options["format"]].count_lines(options["file"])

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        file_format, after = FORMATS[options["format"]], work.after["line"] if work.after else 0
        lines = file_format.lines(options["file"], self.record, after)
        not_kept = Counter[str]()
        read = partial(file_format.read, self.record, not_kept)
        has_unfinished = False
        with refused_file(options["refused"]) as report:
            for batch in import_lines(work, lines, read, self.write, report, not_kept):
                is_silent = not batch.done + batch.failed
                has_unfinished |= bool(batch.changed)
                yield batch
                if not work.dry_run:
                    yield from self._deliver(0 if is_silent else MOST_PENDING)
                if is_silent and has_unfinished and not self.is_stopping():
                    self.finish()
                    has_unfinished = False
        yield Batch(0, details=[f"not kept: {name}: {n:,}" for name, n in sorted(not_kept.items())])
        if not work.dry_run:
            yield from self._deliver(0)
            if not self.is_stopping():
                self.finish()
                yield from self._deliver(0)

    def _deliver(self, most_pending: int) -> Iterator[Batch]:
        for left in deliver_imports(most_pending, self.pause):
            yield Batch(0, note=f"{left:,} changes to deliver")
