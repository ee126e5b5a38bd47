"""The shell around a maintenance job: flags, progress, signals, the result, the exit code.

A job yields a Batch for each piece of work it has committed. The first Ctrl-C (or SIGTERM) lets the
batch in hand finish; the second leaves at once. Exit codes: 0 done, 1 some rows failed, 2 stopped.
"""

import json
import os
import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand

from infra.jobs.progress import Progress
from infra.sharding.placement import all_aliases

DONE, FAILED, STOPPED = 0, 1, 2
STEP_S = 0.1
STDERR = 2


class Batch(NamedTuple):
    """A piece of work that is committed."""

    done: int
    failed: int = 0
    note: str = ""


class JobCommand(BaseCommand):
    """Subclasses say what they do in `iter_batches`, and which flags they need."""

    has_shard_flag = True
    unit = "rows"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as JSON")
        if self.has_shard_flag:
            parser.add_argument("--shard", choices=all_aliases(), help="only this database")
        self.add_job_arguments(parser)

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        """Flags of this job alone."""

    def iter_batches(self, options: dict[str, Any]) -> Iterator[Batch]:
        raise NotImplementedError

    def count_total(self, options: dict[str, Any]) -> int | None:
        """How many rows there are to do, where that is cheap to know."""
        return None

    def handle(self, *args: Any, **options: Any) -> None:
        self._is_stopping = False
        self._failed = 0
        name = type(self).__module__.rpartition(".")[2]
        with _Signals(self._stop):
            progress = Progress(sys.stderr, name, self.count_total(options))
            self._run(options, progress)
        progress.finish()
        code = STOPPED if self._is_stopping else FAILED if self._failed else DONE
        counts = {"done": progress.done, "failed": self._failed}
        self._tell({"job": name, **counts, "exit": code}, options)
        if code:
            sys.exit(code)

    def _run(self, options: dict[str, Any], progress: Progress) -> None:
        with suppress(KeyboardInterrupt):  # raised by the second signal only
            for batch in self.iter_batches(options):
                self._failed += batch.failed
                progress.advance(batch.done, batch.note)
                if self._is_stopping:
                    return

    def pause(self, seconds: float) -> bool:
        """Waits between batches; False, and at once, when the job is to stop.

        In small steps: Python goes back to sleep after a signal's handler has run.
        """
        deadline = time.monotonic() + seconds
        while not self._is_stopping and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, STEP_S))
        return not self._is_stopping

    def _stop(self) -> None:
        """Runs between any two instructions: a write to sys.stderr could break in on another."""
        if self._is_stopping:
            raise KeyboardInterrupt
        self._is_stopping = True
        with suppress(OSError):  # nobody reads
            os.write(STDERR, b"\nfinishing the batch in hand; once more leaves at once\n")

    def _tell(self, result: dict[str, Any], options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(result))
        else:
            self.stdout.write(f"{result['done']:,} {self.unit} done, {result['failed']:,} failed")


def chosen_aliases(options: dict[str, Any]) -> list[str]:
    """The database of --shard, or all of them."""
    return [options["shard"]] if options["shard"] else all_aliases()


class _Signals:
    """SIGINT and SIGTERM call `stop` while the job runs; main thread only, as Python has it."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop

    def __enter__(self) -> None:
        numbers = (signal.SIGINT, signal.SIGTERM)
        self._before = {number: signal.signal(number, self._handle) for number in numbers}

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._stop()
