"""What runs next to the web server in production: the delivery of changes, all the time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from infra.changes.lag import list_lane_lags
from infra.sharding.shards import all_aliases
from lab.runner.child import Child
from lab.runner.programs import worker_command
from tests.browser.artifacts import ARTIFACTS
from tests.other_process import environment_of_this_test
from tests.waiting import until


@contextmanager
def delivering(worker_id: str, **environment: str) -> Iterator[None]:
    """A drainer of its own process, on the databases of the test. Cost: 3 s."""
    ARTIFACTS.mkdir(exist_ok=True)
    worker = Child(
        "worker",
        [sys.executable, *worker_command()],
        ARTIFACTS / f"worker-{worker_id}.log",
        environment_of_this_test() | environment,
    )
    worker.begin()
    try:
        yield
    finally:
        worker.stop()


def settle() -> None:
    """Returns when the drainer has delivered all that there is.

    Two looks: a delivery may leave a change on a shard that was looked at before.
    """
    until(lambda: _is_idle() and _is_idle())


def _is_idle() -> bool:
    return not any(lag.pending for alias in all_aliases() for lag in list_lane_lags(alias))
