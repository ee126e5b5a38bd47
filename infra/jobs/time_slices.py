"""Jobs that the compensator runs in time slices of a few seconds, until a pass is complete.

A time slice is a run like any other. It is locked against the command of the same name, it is
recorded, and it starts where the last one ended. Where there is nothing to do there is no run.
A complete pass is valid for `every`; only then does the job read all rows again.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import structlog

from infra.jobs.checkpoints import Checkpoint, CheckpointValue
from infra.jobs.errors import AlreadyRunning
from infra.jobs.models import JobRun
from infra.jobs.periodic import PeriodicTask
from infra.jobs.runs import recorded_run
from infra.jobs.types import Batch, Tally, Work
from infra.sharding.placement import Placement

PERIOD_S = 300
# Changes wait for so long at most.
SLICE_S = 2.0
FLAGS = "by time slices"
COST = f"two short queries; while rows are left at most {SLICE_S:g} s of the job"
log = structlog.get_logger()


class SlicedJob(NamedTuple):
    """A job that runs in time slices on each shard. `job`: its command; `does`: for people.

    A batch must be short: a time slice ends after the batch during which its time ran out.
    """

    job: str
    does: str
    batches: Callable[[Work], Iterator[Batch]]
    batch_size: int
    every: timedelta = timedelta(days=1)

    def as_periodic_task(self) -> PeriodicTask:
        """The task that runs one time slice a shard."""
        return PeriodicTask(self.job, PERIOD_S, Placement.SHARDED, COST, self.does, self._run_now)

    def _run_now(self, alias: str) -> None:
        run_time_slice(self, alias, datetime.now(UTC))


def run_time_slice(
    sliced: SlicedJob, alias: str, now: datetime, clock_s: Callable[[], float] = time.monotonic
) -> Tally:
    """Continues the pass on one database. The tally is empty when nothing was due.

    Safety: one at a time, by lock. Killed anywhere, the next slice starts after the last batch.
    Raises: errors of the job, recorded with the run. Cost: two queries when nothing is due.
    """
    checkpoint = Checkpoint(sliced.job, f"{FLAGS} {alias}")
    if _is_pass_done(sliced, alias, now):
        return Tally()
    reached = checkpoint.find()
    work = Work([alias], batch_size=sliced.batch_size, after=reached.position)
    if _is_empty(sliced, work):
        checkpoint.delete()
        return Tally()
    try:
        return _run(sliced, work, checkpoint, reached, clock_s)
    except AlreadyRunning as error:
        log.info("time_slice.skipped", job=sliced.job, alias=alias, why=str(error))
        return Tally()


def _is_pass_done(sliced: SlicedJob, alias: str, now: datetime) -> bool:
    done = JobRun.objects.filter(job=sliced.job, flags=_flags(alias), state=JobRun.State.DONE)
    return done.filter(started_at__gt=now - sliced.every).exists()


def _is_empty(sliced: SlicedJob, work: Work) -> bool:
    with closing(_generate(sliced, work._replace(limit=1, batch_size=1, dry_run=True))) as batches:
        return next(batches, None) is None


def _run(
    sliced: SlicedJob,
    work: Work,
    checkpoint: Checkpoint,
    reached: CheckpointValue,
    clock_s: Callable[[], float],
) -> Tally:
    tally, ends_s, [alias] = Tally(), clock_s() + SLICE_S, work.aliases
    with recorded_run(sliced.job, [alias], _flags(alias), dry_run=False) as run:
        with closing(_generate(sliced, work)) as batches:
            for batch in batches:
                tally.add(batch)
                run.report(tally)
                if batch.position is not None:
                    checkpoint.save(CheckpointValue(batch.position, reached.rows + tally.rows))
                if clock_s() >= ends_s:
                    run.finish(JobRun.State.STOPPED)
                    return tally
        checkpoint.delete()
        run.finish(JobRun.State.FAILED if tally.failed else JobRun.State.DONE)
    return tally


def _generate(sliced: SlicedJob, work: Work) -> Generator[Batch, None, None]:
    """A generator that closes the job when it is closed. An Iterator has no `close`."""
    yield from sliced.batches(work)


def _flags(alias: str) -> str:
    return f"{FLAGS} shard={alias}"
