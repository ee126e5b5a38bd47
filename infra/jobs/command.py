"""The shell around a maintenance job: flags, locks, its row, pace, progress, checkpoint, exit code.

A job is a generator that yields a Batch for each piece of work it has committed; the command says
which flags it takes and passes them on. Exit codes: 0 done, 1 some rows failed, 2 stopped early.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from typing import Any, ClassVar

from django.core.management.base import BaseCommand

from infra.jobs.checkpoints import Checkpoint, CheckpointValue
from infra.jobs.drive import Driver
from infra.jobs.errors import STOPPED_CODE
from infra.jobs.flags import JobFlag, add_flags, work_of
from infra.jobs.models import JobRun
from infra.jobs.pace import Pace
from infra.jobs.progress import Progress
from infra.jobs.read_only import read_only
from infra.jobs.result import build_result, build_sentence
from infra.jobs.runs import Run, UnrecordedRun, recorded_run
from infra.jobs.scope import describe_options, list_lock_parts
from infra.jobs.stopping import StopRequest
from infra.jobs.types import BATCH_SIZE, Batch, Tally, Work
from infra.sharding.placement import Placement, all_aliases, is_allowed

DONE, FAILED, STOPPED = 0, 1, STOPPED_CODE
State = JobRun.State
STATES = {DONE: State.DONE, FAILED: State.FAILED, STOPPED: State.STOPPED}


class JobCommand(BaseCommand):
    """Subclasses say what they do in `iter_batches`, and which flags they take in `flags`."""

    flags: ClassVar[Collection[JobFlag]] = frozenset()
    # Where the rows are that the job works on: what --shard may name.
    placement: ClassVar[Placement] = Placement.SHARDED
    unit: ClassVar[str] = "rows"
    batch_size: ClassVar[int] = BATCH_SIZE
    # Options whose values are kept nowhere.
    secrets: ClassVar[Collection[str]] = frozenset({"password"})

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        """The job. A generator is closed when its run is stopped: `finally` and `with` hold."""
        raise NotImplementedError

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        """Flags of this job alone. A checkpoint belongs to one choice of them."""

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        """How many rows there are to do, where that is cheap to know."""
        return None

    def is_recorded(self, options: dict[str, Any]) -> bool:
        """False for what goes on for ever and may do so twice: it has no locks and no row."""
        return True

    def pause(self, seconds: float) -> bool:
        """Waits between batches; False, and at once, when the job is to stop."""
        return self._stopping.pause(seconds)

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
        self._job = type(self).__module__.rpartition(".")[2]
        tally = Tally()
        work = work_of(options, self._aliases(), self.batch_size)
        # By then the second signal has done all it is for.
        with self._stopping.on_signals(), suppress(KeyboardInterrupt):
            self._run(work, options, tally)
        code = self._code(tally)
        self._tell(work, tally, code, options)
        if code:
            sys.exit(code)

    def _run(self, work: Work, options: dict[str, Any], tally: Tally) -> None:
        with self._start(work, options) as run:
            with read_only() if work.dry_run else nullcontext():
                self._drive(run, work, options, tally)
            run.finish(STATES[self._code(tally)])

    def _start(
        self, work: Work, options: dict[str, Any]
    ) -> AbstractContextManager[Run | UnrecordedRun]:
        if not self.is_recorded(options):
            return nullcontext(UnrecordedRun())
        flags = self._told(options, self._own | self._shared - {JobFlag.DRY_RUN.value})
        return recorded_run(self._job, list_lock_parts(work, self.flags), flags, work.dry_run)

    def _drive(
        self, run: Run | UnrecordedRun, work: Work, options: dict[str, Any], tally: Tally
    ) -> None:
        place, before = self._place(options)
        work = work._replace(after=before.position)
        total = self.count_total(work, options)
        progress = Progress(sys.stderr, self._job, total, before.rows)
        kept = None if work.dry_run else place
        pace, say = Pace(options.get("rate")), self._sayer(options)
        driver = Driver(run, progress, self._stopping, pace, say, tally, before, work.limit, kept)
        how = "failed"
        try:
            with closing(self._batches(work, options)) as batches:
                driver.drive(batches)
            how = "done"
        finally:
            progress.finish("stopped" if self._stopping.is_asked else how)

    def _batches(self, work: Work, options: dict[str, Any]) -> Generator[Batch, None, None]:
        """Closed, it closes the job; an Iterator alone could not be."""
        yield from self.iter_batches(work, options)

    def _place(self, options: dict[str, Any]) -> tuple[Checkpoint | None, CheckpointValue]:
        """Where checkpoints are kept, and the one to go on from."""
        if JobFlag.RESUME not in self.flags:
            return None, CheckpointValue()
        selecting = {JobFlag.SHARD.value, JobFlag.ACCOUNT.value}
        place = Checkpoint(self._job, self._told(options, self._own | self._shared & selecting))
        return place, place.find() if options["resume"] else CheckpointValue()

    def _told(self, options: dict[str, Any], names: Collection[str]) -> str:
        return describe_options(options, self._defaults, names)

    def _aliases(self) -> list[str]:
        return [alias for alias in all_aliases() if is_allowed(self.placement, alias)]

    def _code(self, tally: Tally) -> int:
        if self._stopping.is_asked:
            return STOPPED
        return FAILED if tally.failed else DONE

    def _sayer(self, options: dict[str, Any]) -> Callable[[str], None]:
        """With --json the result is alone on the standard output."""
        return self.stderr.write if options["json"] else self.stdout.write

    def _tell(self, work: Work, tally: Tally, code: int, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(build_result(self._job, tally, work.dry_run, code)))
        else:
            self.stdout.write(build_sentence(tally, work.dry_run, self.unit))
