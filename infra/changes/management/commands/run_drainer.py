"""`manage.py run_drainer`: delivers changes a moment after their commits, until it is stopped."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import close_old_connections
from redis.exceptions import RedisError

from infra.changes.drainer import Drainer
from infra.changes.running_drainers import REPORT_EVERY_S, forget_drainer, report_drainer
from infra.jobs.drive_job import StopRequest
from infra.processes.reporter import REPORTER
from infra.sharding.readiness import requiring_ready, wait_until_ready
from infra.sharding.shards import all_aliases
from infra.telemetry.publishing import PUBLISHER, metrics_folder
from infra.verbs import DocumentedCommand

# Web servers on the same machine get the processor first: a reader waits for a page, while a push
# to a hundred thousand timelines may take a little longer.
NICENESS = 10


class Command(DocumentedCommand):
    """Delivers changes a moment after their commits, until it is stopped (the worker). Several may
    run at once: one drains a lane, and another takes over when it ends or hangs.

    **When**: always, as a process (the **worker**). It delivers changes a moment after their
    commits. A second one is a reserve: it takes the lanes over within a second when the first ends,
    and after 15 s when the first hangs. `--shard` (may be repeated) limits it to some databases, so
    that several processes share the work. **Costs**: three threads for each database; without
    changes one small query a second for each. It runs at nice 10. **Stopping it**: Ctrl-C or
    SIGTERM; it finishes the batches in hand. Nothing is lost by `kill -9`.

    The log says once for each outage which store is away (`drainer.store_away`) and that it is back
    (`drainer.store_back`). `database.breaker_opened` names a database that hangs, and
    `database.breaker_closed` says that it answers again
    ([more](../../explanation/architecture.md#when-a-store-is-away)).
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--shard",
            choices=all_aliases(),
            action="append",
            help="only this database; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        os.nice(NICENESS)
        PUBLISHER.publish(metrics_folder(), "worker")
        REPORTER.report("worker")
        drainer, stop = Drainer(), StopRequest()
        with stop.on_signals(), suppress(KeyboardInterrupt), requiring_ready():
            if wait_until_ready(stop.pause, self.stderr.write):
                _run(drainer, stop, options["shard"])
        PUBLISHER.stop()


def _run(drainer: Drainer, stop: StopRequest, only: Sequence[str] | None) -> None:
    """Until a stop is requested. A shard that is added in the meantime is drained, too."""
    is_running = True
    while is_running:
        close_old_connections()
        drainer.cover(only or all_aliases())
        is_running = _report(stop)
    drainer.stop()


def _report(stop: StopRequest) -> bool:
    """Says that this process runs; False if it has to stop."""
    with suppress(RedisError):  # the status page shows that Redis is away
        report_drainer()
    if stop.pause(REPORT_EVERY_S):
        return True
    with suppress(RedisError):
        forget_drainer()
    return False
