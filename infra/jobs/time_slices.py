"""Jobs that nobody has to start: a turn of a few seconds now and then, until a round is through.

A turn is a run like any other: locked against the command of the same name, recorded, and begun
where the last one ended. Where there is nothing to do there is no run. A round that is through
counts for `every`: only then is all of it looked at again.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog

from infra.jobs.checkpoints import Checkpoint, CheckpointValue
from infra.jobs.errors import AlreadyRunning
from infra.jobs.models import JobRun
from infra.jobs.runs import recorded_run
from infra.jobs.types import Batch, Tally, Work

# How often a turn is taken, by whoever does chores; and how long it may keep changes waiting.
EVERY_S = 300
SLICE_S = 2.0
FLAGS = "by time slices"
log = structlog.get_logger()


class SlicedJob(NamedTuple):
    """A job done by turns. `job`: the name of its command. A batch takes moments at most."""

    job: str
    batches: Callable[[Work], Iterator[Batch]]
    batch_size: int
    every: timedelta = timedelta(days=1)


def run_time_slice(
    rounds: SlicedJob, alias: str, now: datetime, clock_s: Callable[[], float] = time.monotonic
) -> Tally:
    """Goes on with the round on one database; says what was done, nothing while it has time.

    Safety: one at a time, by lock; killed anywhere, the next turn goes on behind the last batch.
    Raises: what the job raises, recorded as the run's error. Cost: two queries when there is
    nothing to do.
    """
    checkpoint = Checkpoint(rounds.job, f"{FLAGS} {alias}")
    if _is_pass_done(rounds, alias, now):
        return Tally()
    reached = checkpoint.find()
    work = Work([alias], batch_size=rounds.batch_size, after=reached.position)
    if _is_empty(rounds, work):
        checkpoint.delete()
        return Tally()
    try:
        return _run(rounds, work, checkpoint, reached, clock_s)
    except AlreadyRunning as error:
        log.info("time_slice.skipped", job=rounds.job, alias=alias, why=str(error))
        return Tally()


def _is_pass_done(rounds: SlicedJob, alias: str, now: datetime) -> bool:
    done = JobRun.objects.filter(job=rounds.job, flags=_flags(alias), state=JobRun.State.DONE)
    return done.filter(started_at__gt=now - rounds.every).exists()


def _is_empty(rounds: SlicedJob, work: Work) -> bool:
    with closing(_generate(rounds, work._replace(limit=1, batch_size=1, dry_run=True))) as batches:
        return next(batches, None) is None


def _run(
    rounds: SlicedJob,
    work: Work,
    checkpoint: Checkpoint,
    reached: CheckpointValue,
    clock_s: Callable[[], float],
) -> Tally:
    tally, ends_s, [alias] = Tally(), clock_s() + SLICE_S, work.aliases
    with recorded_run(rounds.job, [alias], _flags(alias), dry_run=False) as run:
        with closing(_generate(rounds, work)) as batches:
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


def _generate(rounds: SlicedJob, work: Work) -> Generator[Batch, None, None]:
    """Closed, it closes the job; an Iterator alone could not be."""
    yield from rounds.batches(work)


def _flags(alias: str) -> str:
    return f"{FLAGS} shard={alias}"
