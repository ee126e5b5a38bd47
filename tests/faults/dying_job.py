"""A process that does a job and dies in it, or hangs.

`python -m tests.faults.dying_job SIGNAL PLACE NTH JOB WORD...`: it does the signal to itself when
it comes to the failpoint, or has kept a `checkpoint`, for the nth time. JOB is the name of a
command or the path of its class.
"""

import itertools
import os
import signal
import sys
from collections.abc import Callable
from unittest.mock import patch

import django
from django.core.management import call_command
from django.utils.module_loading import import_string

from infra.changes.failpoints import arm
from tests.loaded_process import LoadedProcess


def start(sign: str, place: str, nth: int, *words: str) -> LoadedProcess:
    return LoadedProcess("-m", "tests.faults.dying_job", sign, place, str(nth), *words)


def kill_at(place: str, nth: int, *words: str) -> None:
    """Returns when the job has been killed there."""
    with start("SIGKILL", place, nth, *words) as process:
        assert process.wait() == -signal.SIGKILL


def main() -> None:
    django.setup()
    sign, place, nth, job, *words = sys.argv[1:]
    times = itertools.count(1)

    def act() -> None:
        if next(times) == int(nth):
            os.kill(os.getpid(), getattr(signal, sign))

    if place == "checkpoint":
        act_after_keeping(act)
    arm(place, act)
    call_command(import_string(job)() if "." in job else job, *words)


def act_after_keeping(act: Callable[[], None]) -> None:
    from infra.jobs.checkpoints import Checkpoint, CheckpointValue  # noqa: PLC0415 - models, after the setup

    keep = Checkpoint.save

    def keep_and_act(self: Checkpoint, reached: CheckpointValue) -> None:
        keep(self, reached)
        act()

    patch.object(Checkpoint, "save", keep_and_act).start()


if __name__ == "__main__":
    main()
