"""`manage.py run_drainer`: delivers changes a moment after their commits, until it is stopped."""

import os
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand
from redis.exceptions import RedisError

from infra.changes.drainer import Drainer
from infra.changes.running_drainers import REPORT_EVERY_S, forget_drainer, report_drainer
from infra.jobs.stopping import StopRequest
from infra.sharding.placement import all_aliases
from infra.sharding.readiness import requiring_ready, wait_until_ready
from infra.telemetry.publishing import PUBLISHER, metrics_folder

# Web servers on the same machine get the processor first: a reader waits for a page, while a push
# to a hundred thousand timelines may take a little longer.
NICENESS = 10


class Command(BaseCommand):
    help = (
        "Delivers changes a moment after their commits, until it is stopped (the worker). Several"
        " may run at once: one drains a lane, and another takes over when it ends or hangs."
    )

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
        drainer, stop = Drainer(options["shard"] or all_aliases()), StopRequest()
        with stop.on_signals(), suppress(KeyboardInterrupt), requiring_ready():
            if wait_until_ready(stop.pause, self.stderr.write):
                drainer.start()
                _report_until(stop)
                drainer.stop()
        PUBLISHER.stop()


def _report_until(stop: StopRequest) -> None:
    while True:
        with suppress(RedisError):  # the status page shows that Redis is away
            report_drainer()
        if not stop.pause(REPORT_EVERY_S):
            break
    with suppress(RedisError):
        forget_drainer()
