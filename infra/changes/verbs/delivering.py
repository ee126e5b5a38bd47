"""Commands that deliver changes, and show how many wait."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from infra.changes.compensate import compensate, dry_run_batch
from infra.changes.lag import LaneLag, list_lane_lags
from infra.changes.pausing import list_pauses
from infra.changes.replay import ReplayFilter, replay
from infra.changes.verbs.parking import add_kind_and_owner
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag, parse_moment
from infra.jobs.types import Batch, Work
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import Placement
from infra.sharding.probe import error_line
from infra.sharding.shards import all_aliases
from infra.verbs import DocumentedCommand

HEADER = f"{'database':<10} {'lane':>4} {'pending':>9} {'parked':>7} {'oldest s':>9} {'paused':>9}"


class DrainChanges(JobCommand):
    """Delivers pending changes once, lane by lane, until none is due.

    **When**: to deliver pending changes now, for example without a worker. `--lane N` drains one
    lane. Without Redis, changes whose consumers write to it stay pending. `--dry-run` lists the due
    changes by lane and kind and takes no lease. It leaves out rows that back off after a failure,
    and follow-up changes of the deliveries. **Costs**: the cost of the consumers. A lane that a
    drainer holds is skipped.

    ```
    $ manage.py changes drain --shard shard0 --dry-run
    shard0 lane 1: 12 posts.created would be delivered, the oldest waits for 41.7 s
    shard0 lane 1: 3 posts.marked would move to the paused lane: the kind is paused, the oldest waits for 2.0 s
    15 changes looked at, 15 would change, 0 failed
    ```
    """  # noqa: E501

    name = "changes drain"
    unit = "changes"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lane", type=int, help="only this lane")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        for alias in work.aliases:
            if work.dry_run:
                yield dry_run_batch(alias, options["lane"])
                continue
            for report in compensate(alias, options["lane"]):
                yield Batch(report.delivered, report.failed, alias)


class ShowChangeLag(DocumentedCommand):
    """Shows pending, parked and paused changes by database and lane, the age of the oldest pending
    change, and the paused kinds with time and reason.

    **When**: to see whether the drain keeps up, and whether changes are parked or paused.
    **Costs**: one query for each database, of undelivered rows only.

    ```
    $ manage.py changes lag --shard shard2
    database   lane   pending  parked  oldest s    paused
    shard2        0         0       1       0.0         0
    shard2        1         3       0       0.4        12
    shard2       64        11       0      17.2         0
    shard2       65         0       0       0.0         0
    shard2      128         0       0       0.0         0
    shard2      192         0       0       0.0         0
    shard2: relations.mute_changed paused, since 2026-11-21 20:40:11 UTC: INC-12, forget_relationships fails
    ```

    - `paused` counts rows of [paused kinds](#changes-pause). `pending` does not include them. Each
      paused kind has a line at the end.
    - [Lanes](../../explanation/changes.md#lanes) 64 to 127 carry large fan-outs: at most eleven
      rows for each author and batch of posts, of 10,000 followers each. `oldest s`
      starts again with every ten chunks. Lane 128 waits for a shard, lane 192 is drained once a
      second.
    - Ordinary lanes should stay near 0. If they do not, the worker is busy: divide the databases
      between several (`--shard`).
    - A database that does not answer has a line on standard error: `shard1: unreachable: connection
      failed: …`.

    An author with `HOT_FOLLOWERS` becomes hot with the next post (`author.heated` in the log of the
    worker). Every ten minutes the compensator looks for hot authors below 0.8 of it
    (`author.cooled`); a bulk lane then removes the live timelines of their followers, a thousand a
    row. Both hold after you change the setting, too.

    `--json` prints one object a line, for scripts.
    """  # noqa: E501

    name = "changes lag"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["json"]:
            self.stdout.write(HEADER)
        aliases = [options["shard"]] if options["shard"] else all_aliases()
        are_shown = {alias: self._show(alias, options["json"]) for alias in aliases}
        if not all(are_shown.values()):
            sys.exit(1)

    def _show(self, alias: str, as_json: bool) -> bool:
        """False: the database does not answer."""
        try:
            lags, all_paused = list_lane_lags(alias), list_pauses(alias)
        except NO_ANSWER as error:
            self.stderr.write(f"{alias}: unreachable: {error_line(error)}")
            return False
        for lag in lags:
            self.stdout.write(json.dumps(lag._asdict()) if as_json else _line(lag))
        for paused in all_paused:
            row = {"alias": alias, **paused._asdict()}
            as_text = f"{alias}: {paused}"
            self.stdout.write(json.dumps(row, default=str) if as_json else as_text)
        return True


def _line(lag: LaneLag) -> str:
    rows = f"{lag.pending:>9} {lag.parked:>7} {lag.oldest_s:>9.1f} {lag.paused:>9}"
    return f"{lag.alias:<10} {lag.lane:>4} {rows}"


class ReplayChanges(JobCommand):
    """Delivers changes of the last CHANGE_REPLAY_DAYS again. Correct rows stay as they are.

    **When**: a bug in a consumer was fixed. After a shard was restored,
    [`shards reconcile`](shards.md#shards-reconcile) does it. It delivers changes again that were
    delivered between `--since` and `--until` (now), of one `--kind`, of one `--owner`, or all.
    Correct rows stay as they are. Start with `--dry-run`: it counts and delivers nothing.
    `--batch-size` is at most 500. Follow-up changes (such as chunks of fan-outs) are left out,
    because their causes create them again: replay `posts.created`. **Costs**: the cost of the
    consumers. It may run at the same time as the drain. **Stopping it**: Ctrl-C or `kill -9`.
    `--resume` continues, up to the same `--until`, or to now.

    ```
    $ manage.py changes replay --since 2026-11-21T12:33:00 --kind posts.created --shard shard2 --json
    changes replay: 2 (25/s) done
    {"job": "changes replay", "dry_run": false, "done": 2, "changed": null, "failed": 0, "left_out": {}, "exit": 0}
    ```

    Times without an offset are UTC. Changes that fail are lines of the output. They are still filed
    as delivered.
    """  # noqa: E501

    name = "changes replay"
    unit = "changes"
    flags = WALK - {JobFlag.ACCOUNT}
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since", type=parse_moment, required=True, help="delivered from, ISO 8601"
        )
        parser.add_argument("--until", type=parse_moment, help="delivered before, ISO 8601 (now)")
        add_kind_and_owner(parser)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        until = options["until"] or datetime.now(UTC)
        selected = ReplayFilter(options["since"], until, options["kind"], options["owner"])
        return replay(work, selected)
