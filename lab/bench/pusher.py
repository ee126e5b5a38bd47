"""A process that pushes into full live timelines as fast as it can.

It runs with the low priority of a worker.

python -m lab.bench.pusher     reads lines with seconds; prints deliveries a second for each
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PushFor = Callable[[float], float]


@contextmanager
def pusher(redis_url: str) -> Iterator[PushFor]:
    """Gives a function that pushes for some seconds and returns deliveries a second."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lab.bench.pusher"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"REDIS_URL": redis_url},
    )
    assert process.stdin is not None and process.stdout is not None  # noqa: PT018 - pipes
    orders, answers = process.stdin, process.stdout

    def push_for(duration_s: float) -> float:
        print(duration_s, file=orders, flush=True)
        return float(answers.readline())

    try:
        push_for(0)  # waits for the timelines
        yield push_for
    finally:
        process.communicate()


def _run() -> None:
    """Runs until standard input ends."""
    import django  # noqa: PLC0415 - of the child alone

    django.setup()
    from infra.changes.management.commands.run_drainer import NICENESS  # noqa: PLC0415
    from lab.bench.full_timelines import READERS, fill, push  # noqa: PLC0415
    from posts.ids import PostId  # noqa: PLC0415
    from timelines.stores.factory import STORES  # noqa: PLC0415
    from timelines.types import Entry  # noqa: PLC0415

    os.nice(NICENESS)
    store, second = STORES["packed"](0), 20_000
    fill(store, READERS)
    for line in sys.stdin:
        began, pushes = time.monotonic(), 0
        while time.monotonic() < began + float(line):
            push(store, READERS, Entry.of_post(PostId(second + pushes, 7, 0)))
            pushes += 1
        second += pushes
        print(pushes * len(READERS) / (time.monotonic() - began), flush=True)


if __name__ == "__main__":
    _run()
