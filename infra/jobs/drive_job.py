"""Drives a job: takes its batches one after the other, reports, saves the checkpoint and waits.

Stops a run: after the batch at the first Ctrl-C or SIGTERM, at once at the second.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

from infra.jobs.checkpoints import Checkpoint, CheckpointValue
from infra.jobs.progress import Progress
from infra.jobs.runs import Run, UnrecordedRun
from infra.jobs.types import Batch, Tally

STEP_S = 0.1
STDERR = 2


class StopRequest:
    """Whether a stop was requested. Python delivers signals to the main thread only."""

    def __init__(self) -> None:
        self.is_requested = False

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """The first SIGINT or SIGTERM requests a stop, the second raises KeyboardInterrupt."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def pause(self, seconds: float) -> bool:
        """Waits; returns False at once when a stop is requested.

        It sleeps in small steps, because Python continues a sleep after a signal handler.
        """
        deadline = time.monotonic() + seconds
        while not self.is_requested and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, STEP_S))
        return not self.is_requested

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Writes to the file descriptor: a write to sys.stderr could interrupt another one."""
        if self.is_requested:
            raise KeyboardInterrupt
        self.is_requested = True
        with suppress(OSError):  # standard error is closed
            os.write(STDERR, b"\nfinishing the current batch; once more stops at once\n")


class Pace:
    """Limits a run to `rate` rows a second. Slow batches do not save up time for a burst."""

    def __init__(self, rate: int | None, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock_s = clock_s
        self._began_s = clock_s()

    def wait_s(self, rows: int) -> float:
        """How long to wait after so many rows. Call `start_batch` before the next one."""
        if self._rate is None:
            return 0.0
        return max(self._began_s + rows / self._rate - self._clock_s(), 0.0)

    def start_batch(self) -> None:
        self._began_s = self._clock_s()


@dataclass
class Driver:
    """The parts of a run besides its job. `checkpoint` is None when none is saved."""

    run: Run | UnrecordedRun
    progress: Progress
    stopping: StopRequest
    pace: Pace
    write_line: Callable[[str], None]
    tally: Tally
    before: CheckpointValue
    limit: int | None = None
    checkpoint: Checkpoint | None = None

    def drive(self, batches: Iterator[Batch]) -> None:
        """Runs until the batches end, the limit is reached or a stop is requested.

        Only the end of the batches deletes the checkpoint.
        """
        for batch in batches:
            self._take(batch)
            if self._is_enough(batch):
                return
        if self.checkpoint and not self.stopping.is_requested:
            self.checkpoint.delete()

    def _take(self, batch: Batch) -> None:
        self.tally.add(batch)
        # Report first: a run that lost its locks must not move the checkpoint of another run.
        self.run.report(self.tally)
        if self.checkpoint and batch.position is not None:
            self.checkpoint.save(
                CheckpointValue(batch.position, self.before.rows + self.tally.rows)
            )
        self.progress.advance(batch.done, batch.note)
        for line in batch.details:
            self.progress.make_room()
            self.write_line(line)

    def _is_enough(self, batch: Batch) -> bool:
        if self.limit is not None and self.tally.rows >= self.limit:
            return True
        wait_s = self.pace.wait_s(batch.done + batch.failed)
        if not self.stopping.pause(wait_s):
            return True
        self.pace.start_batch()
        return False
