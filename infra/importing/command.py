"""The frame of the commands that import.

Waits until what an import wrote is delivered: by the worker, or by this process.

The file of refused lines: the number, the reason and the text of each, as JSON lines.
"""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import orjson

from infra.changes.compensate import compensate
from infra.changes.lanes import LaneGroup, all_lanes
from infra.changes.sql import SELECT_PENDING
from infra.importing.formats import FORMATS
from infra.importing.job import NumberedRecord, Report, WrittenBatch, import_lines
from infra.importing.lines import STDIN, ImportLine
from infra.importing.types import Record
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_one

PENDING = f"SELECT count(*) FROM ({SELECT_PENDING} AND lane = ANY(%s::smallint[])) AS pending"  # noqa: S608
# So many changes of imports may wait on a shard before a run waits for them.
MOST_PENDING = 32
WAIT_S = 0.1
Pause = Callable[[float], bool]


def deliver_imports(most_pending: int, pause: Pause) -> Iterator[int]:
    """Drains the lanes of imports, or waits for the worker that does, until no shard has more than
    `most_pending` changes in them. Yields how many are left, before each wait.

    `pause(seconds)` False: a stop is requested, and it returns. What fails is tried again, and
    parked in the end; parked changes are not waited for. Cost: one query a shard and turn.
    """
    while (left := max(map(_count_pending, shard_aliases()))) > most_pending:
        yield left
        drained = sum(map(_drain, shard_aliases()))
        if not drained and not pause(WAIT_S):
            return


def _count_pending(alias: str) -> int:
    row = fetch_one(alias, PENDING, (all_lanes([LaneGroup.IMPORTED]),))
    return 0 if row is None else int(row[0])


def _drain(alias: str) -> int:
    """How many changes were delivered. None while a worker holds the lease of the lane."""
    lanes = all_lanes([LaneGroup.IMPORTED])
    return sum(report.delivered for lane in lanes for report in compensate(alias, lane))


@contextmanager
def refused_file(path: Path | None) -> Iterator[Report]:
    """Appends each refused line to the file, at once: a killed run loses none that it printed.

    None: no file. Raises: OSError.
    """
    if path is None:
        yield lambda line, reason: None
        return
    with path.open("ab", buffering=0) as file:

        def report(line: ImportLine, reason: str) -> None:
            text = line.text.decode(errors="replace").rstrip("\n")
            file.write(orjson.dumps({"line": line.number, "reason": reason, "text": text}) + b"\n")

        yield report


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
