"""Takes a job's batches one after the other: reports, saves the checkpoint, waits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from infra.jobs.checkpoints import Checkpoint, CheckpointValue
from infra.jobs.pace import Pace
from infra.jobs.progress import Progress
from infra.jobs.runs import Run, UnrecordedRun
from infra.jobs.stopping import StopRequest
from infra.jobs.types import Batch, Tally


@dataclass
class Driver:
    """What a run has besides its job. `checkpoint` is None where no checkpoint is kept."""

    run: Run | UnrecordedRun
    progress: Progress
    stopping: StopRequest
    pace: Pace
    say: Callable[[str], None]
    tally: Tally
    before: CheckpointValue
    limit: int | None = None
    checkpoint: Checkpoint | None = None

    def drive(self, batches: Iterator[Batch]) -> None:
        """Until the batches end, the limit is reached or somebody asks to stop.

        The checkpoint is forgotten in the first case alone.
        """
        for batch in batches:
            self._take(batch)
            if self._is_enough(batch):
                return
        if self.checkpoint and not self.stopping.is_asked:
            self.checkpoint.delete()

    def _take(self, batch: Batch) -> None:
        self.tally.add(batch)
        # First of all: a run that lost its locks must not move a checkpoint that may be another's.
        self.run.report(self.tally)
        if self.checkpoint and batch.position is not None:
            self.checkpoint.save(
                CheckpointValue(batch.position, self.before.rows + self.tally.rows)
            )
        self.progress.advance(batch.done, batch.note)
        for line in batch.details:
            self.progress.make_room()
            self.say(line)

    def _is_enough(self, batch: Batch) -> bool:
        if self.limit is not None and self.tally.rows >= self.limit:
            return True
        wait_s = self.pace.wait_s(batch.done + batch.failed)
        if not self.stopping.pause(wait_s):
            return True
        self.pace.go_on()
        return False
