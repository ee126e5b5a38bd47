"""`manage.py replay_changes`: delivers delivered changes again.

**When**: a bug in a consumer was fixed. After a shard was restored,
[`reconcile_shard`](shards.md#reconcile_shard) does it. It delivers changes again that were
delivered between `--since` and `--until` (now), of one `--kind`, of one `--owner`, or all. Correct
rows stay as they are. Start with `--dry-run`: it counts and delivers nothing. `--batch-size` is at
most 500. Follow-up changes (such as chunks of fan-outs) are left out, because their causes create
them again: replay `posts.created`. **Costs**: the cost of the consumers. It may run at the same
time as the drain. **Stopping it**: Ctrl-C or `kill -9`. `--resume` continues, up to the same
`--until`, or to now.

```
$ manage.py replay_changes --since 2026-11-21T12:33:00 --kind posts.created --shard shard2 --json
replay_changes: 2 (25/s) done
{"job": "replay_changes", "dry_run": false, "done": 2, "changed": null, "failed": 0, "left_out": {}, "exit": 0}
```

Times without an offset are UTC. Changes that fail are lines of the output. They are still filed as
delivered.
"""  # noqa: E501

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from infra.changes.replay import ReplayFilter, replay
from infra.changes.selection import add_kind_and_owner
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag, parse_moment
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Delivers changes of the last CHANGE_REPLAY_DAYS again. Correct rows stay as they are."
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
