"""`manage.py show_status`: the state of the whole system on one screen."""

import json
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from infra.verbs import DocumentedCommand
from operations.status.report import list_down, read_status
from operations.status.status_lines import format_status


class Command(DocumentedCommand):
    """Shows databases, changes, Redis, images, workers, samples, periodic tasks and jobs within 2
    s. The exit code is 1 if something is down.

    **When**: first of all, when something seems wrong. One screen shows which databases and Redis
    answer, whether [images](../../how-to/store-images.md#is-it-usable) can be stored and are read
    through the proxy, how many changes wait in each group of lanes, paused kinds, workers that run,
    the age of the last report of a compensator, results of samples, [periodic
    tasks](../periodic-tasks.md) with their periods, jobs that run and jobs that failed since
    yesterday, and versions. `--json` prints one object. The command answers within two seconds: a
    part that does not answer in 1.5 s is shown as down, with the reason. **Costs**: a dozen short
    statements per database, in parallel; two round trips to Redis and a message to the workers; a
    small file that is written, read and deleted. **Exit codes**: 0 when all is up. 1 when something
    is down or [takes no writes](../../how-to/when-a-store-fails.md): a database or Redis, the store
    of images, a part without an answer, no worker, or no compensator that reported in the last
    minute. A database that is the wrong one or lacks a migration counts as down; waiting changes,
    drift and failed jobs do not count.

    ```
    $ manage.py show_status
    2026-11-21T21:09:41  tideline 0.1.0, python 3.11.7, django 5.2.8

    databases
      default   up, PostgreSQL 15.18, 11 MB, 9 of 100 connections
      shard0    up, PostgreSQL 15.18, 48,113 MB, 22 of 100 connections, 1,002,340 accounts
      shard1    DOWN: connection failed: connection to server at "db2", port 5432 failed: Connection refused
    changes
      shard0    waiting: 1 pending, 0 parked, 0 paused, oldest 93.4 s
      shard1    unknown
      no others
    kept        changes_delivered from 2026-11-14, timelines_entry from 2026-09-21, timelines_recentpost from 2026-11-13
    redis       up, 8.1.1, 812.4 of 4,295 MB, 31 clients, 0 keys evicted
    images      up, in /var/lib/tideline/media, read at https://feed.example.org/media/
    workers     web1:4711, web2:4712; all processes agree
    compensator 3.1 s ago at the longest
    drift       none
    holes       none
    periodic    every report_lag 5 s, sample_counts 10 s, delete_expired_sign_ins 600 s, …
    running     audit edges shard=shard0 since 2026-11-21T20:58:00+00:00, 1,204,000
    ```
    """  # noqa: E501

    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        status = read_status(datetime.now(UTC))
        self.stdout.write(
            json.dumps(status) if options["json"] else "\n".join(format_status(status))
        )
        if list_down(status):
            sys.exit(1)
