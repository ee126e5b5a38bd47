"""Runs a maintenance job: flags, locks, the run row, pace, progress, checkpoint, exit code.

A job is a generator that yields a Batch for each piece of work that it has committed. Exit codes: 0
done, 1 some rows failed or a database was left out, 2 stopped early.

Makes a dry run unable to write to any database.

Every session sets `default_transaction_read_only`, so PostgreSQL refuses writes by raw SQL, COPY
and the ORM, and SELECT … FOR UPDATE too. A job that does not check `work.dry_run` ends with "cannot
execute UPDATE in a read-only transaction". To roll back each batch instead would lock rows that
others use, and would not stop other threads. Redis is not protected: a job checks `work.dry_run`
before it writes there.

The lines that a job prints about single rows: not more than one reads.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, ClassVar

import psycopg
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from infra.jobs.by_database import run_by_database
from infra.jobs.checkpoints import Checkpoint, CheckpointValue
from infra.jobs.drive_job import Driver, Pace, StopRequest
from infra.jobs.errors import STOPPED_CODE
from infra.jobs.flags import JobFlag, add_flags, work_of
from infra.jobs.models import JobRun
from infra.jobs.progress import Progress
from infra.jobs.runs import Run, UnrecordedRun, describe_options, list_lock_parts, recorded_run
from infra.jobs.types import BATCH_SIZE, Batch, Tally, Work
from infra.jobs.walk import Table, estimate_rows
from infra.sharding.bounded.base import refusals_are_faults
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import Placement, is_allowed
from infra.sharding.readiness import refuse_unusable_databases, requiring_ready
from infra.sharding.shards import all_aliases
from infra.verbs import DocumentedCommand

READ_ONLY = "SET default_transaction_read_only = on"
WRITABLE = "RESET default_transaction_read_only"


@contextmanager
def read_only() -> Iterator[None]:
    """Makes the connections of this thread read-only, also those opened inside the block.

    The process of a command has no others. Enter it outside a transaction: an open transaction
    stays writable.
    """
    sessions: list[psycopg.Connection[Any]] = []

    def make_read_only(connection: BaseDatabaseWrapper, **_: Any) -> None:
        connection.connection.execute(READ_ONLY)
        sessions.append(connection.connection)

    connection_created.connect(make_read_only)
    try:
        for alias in all_aliases():
            if connections[alias].connection is not None:
                make_read_only(connections[alias])
        with refusals_are_faults():
            yield
    finally:
        connection_created.disconnect(make_read_only)
        for session in sessions:
            with suppress(psycopg.Error):  # a broken session needs no reset
                session.execute(WRITABLE)


MOST_LINES = 1_000
THE_REST = "… and more: the others are counted, not printed"


class LineWriter:
    """Passes on the first lines of a job. A lost table would print each of its rows."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._left = MOST_LINES

    def __call__(self, line: str) -> None:
        if self._left >= 0:
            self._write(line if self._left else THE_REST)
            self._left -= 1


DONE, FAILED, STOPPED = 0, 1, STOPPED_CODE
State = JobRun.State
STATES = {DONE: State.DONE, FAILED: State.FAILED, STOPPED: State.STOPPED}


class JobCommand(DocumentedCommand):
    """A subclass names the flags that it takes in `flags`, and its `job`.

    A job that needs more than the work implements `iter_batches` instead.
    """

    job: Callable[[Work], Iterator[Batch]]
    # The tables that it walks, if it shows how much is left: they have few rows besides.
    total_of: ClassVar[Sequence[Table]] = ()
    flags: ClassVar[Collection[JobFlag]] = frozenset()
    # The databases of the rows of the job: the values of --shard.
    placement: ClassVar[Placement] = Placement.SHARDED
    unit: ClassVar[str] = "rows"
    batch_size: ClassVar[int] = BATCH_SIZE
    # Options whose values are never stored.
    secrets: ClassVar[Collection[str]] = frozenset({"password"})

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        """The job. A stopped run closes the generator, so its `finally` and `with` blocks run."""
        return self.job(work)

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        """Flags of this job only. Each combination of their values has its own checkpoint."""

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        """The number of rows to do, or None if it is expensive to know."""
        estimates = [estimate_rows(work, table) for table in self.total_of]
        return None if None in estimates or not estimates else sum(filter(None, estimates))

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """Whether `iter_batches` works on one database after the other.

        A database that does not answer is then left out. False for a job that needs them together.
        """
        return JobFlag.SHARD in self.flags

    def is_recorded(self, options: dict[str, Any]) -> bool:
        """False for a job without an end that may run twice: it has no locks and no run row."""
        return True

    def await_databases(self, options: dict[str, Any]) -> bool:
        """Whether the job may begin. Raises DatabaseUnusable if a database is not ready."""
        refuse_unusable_databases()
        return True

    def pause(self, seconds: float) -> bool:
        """Waits between batches; returns False at once when a stop is requested."""
        return self._stopping.pause(seconds)

    def is_stopping(self) -> bool:
        """Whether a stop is requested."""
        return self._stopping.is_requested

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as JSON")
        shells = {action.dest for action in parser._actions}
        add_flags(parser, self.flags, self._aliases(), self.batch_size)
        self._shared = {flag.value for flag in self.flags}
        self.add_job_arguments(parser)
        self._defaults = {action.dest: action.default for action in parser._actions}
        self._own = self._defaults.keys() - shells - self._shared - set(self.secrets)

    def handle(self, *args: Any, **options: Any) -> None:
        self._stopping = StopRequest()
        tally = Tally()
        work = work_of(options, self._aliases(), self.batch_size)
        # KeyboardInterrupt comes from the second signal, which only has to end the job.
        with self._stopping.on_signals(), suppress(KeyboardInterrupt), requiring_ready():
            if self.await_databases(options):
                self._run(work, options, tally)
        code = self._code(tally)
        self._print_result(work, tally, code, options)
        if code:
            sys.exit(code)

    def _run(self, work: Work, options: dict[str, Any], tally: Tally) -> None:
        with self._start(work, options) as run:
            with read_only() if work.dry_run else nullcontext():
                self._drive(run, work, options, tally)
            run.finish(STATES[self._code(tally)], "; ".join(tally.left_out_lines()))

    def _start(
        self, work: Work, options: dict[str, Any]
    ) -> AbstractContextManager[Run | UnrecordedRun]:
        if not self.is_recorded(options):
            return nullcontext(UnrecordedRun())
        flags = self._describe(options, self._own | self._shared - {JobFlag.DRY_RUN.value})
        return recorded_run(self.name, list_lock_parts(work, self.flags), flags, work.dry_run)

    def _drive(
        self, run: Run | UnrecordedRun, work: Work, options: dict[str, Any], tally: Tally
    ) -> None:
        checkpoint, before = self._find_checkpoint(options)
        work = work._replace(after=before.position)
        total = self._find_total(work, options)
        progress = Progress(sys.stderr, self.name, total, before.rows)
        saved = None if work.dry_run else checkpoint
        pace, write_line = Pace(options.get("rate")), self._line_writer(options)
        driver = Driver(
            run, progress, self._stopping, pace, write_line, tally, before, work.limit, saved
        )
        how = "failed"
        try:
            with closing(self._batches(work, options, tally.left_out)) as batches:
                driver.drive(batches)
            how = "done"
        finally:
            progress.finish("stopped" if self._stopping.is_requested else how)

    def _find_total(self, work: Work, options: dict[str, Any]) -> int | None:
        try:
            return self.count_total(work, options)
        except NO_ANSWER:  # of a database that will be left out
            return None

    def _batches(
        self, work: Work, options: dict[str, Any], left_out: dict[str, str]
    ) -> Generator[Batch, None, None]:
        """A generator that closes the job when it is closed. An Iterator has no `close`."""
        if self.is_by_database(options):
            yield from run_by_database(work, partial(self.iter_batches, options=options), left_out)
        else:
            yield from self.iter_batches(work, options)

    def _find_checkpoint(
        self, options: dict[str, Any]
    ) -> tuple[Checkpoint | None, CheckpointValue]:
        """The checkpoint of this job and its flags, and the value to continue from."""
        if JobFlag.RESUME not in self.flags:
            return None, CheckpointValue()
        selecting = {JobFlag.SHARD.value, JobFlag.ACCOUNT.value}
        checkpoint = Checkpoint(
            self.name, self._describe(options, self._own | self._shared & selecting)
        )
        return checkpoint, checkpoint.find() if options["resume"] else CheckpointValue()

    def _describe(self, options: dict[str, Any], names: Collection[str]) -> str:
        return describe_options(options, self._defaults, names)

    def _aliases(self) -> list[str]:
        return [alias for alias in all_aliases() if is_allowed(self.placement, alias)]

    def _code(self, tally: Tally) -> int:
        if self._stopping.is_requested:
            return STOPPED
        return FAILED if tally.failed or tally.left_out else DONE

    def _line_writer(self, options: dict[str, Any]) -> Callable[[str], None]:
        """With --json, lines go to standard error: standard output has only the result."""
        return LineWriter(self.stderr.write if options["json"] else self.stdout.write)

    def _print_result(self, work: Work, tally: Tally, code: int, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(tally.as_json(self.name, work.dry_run, code)))
        else:
            self.stdout.write(tally.as_sentence(work.dry_run, self.unit))
        for alias, line in zip(tally.left_out, tally.left_out_lines(), strict=True):
            how = "" if work.account_id else f" with --shard {alias}"
            self.stderr.write(f"{line}. When it answers, run {self.name} again{how}.")
