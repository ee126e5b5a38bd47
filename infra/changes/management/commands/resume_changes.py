"""`manage.py resume_changes`: delivers changes of a paused kind again.

**When**: the reason of [`pause_changes`](#pause_changes) is over. The waiting changes are
delivered, oldest first. New changes are delivered as usual. `--rate` slows it down. **Costs**: one
statement for 500 changes, and the cost of the consumers. **Stopping it**: Ctrl-C or `kill -9`. The
compensator finishes it within seconds. To keep the kind paused, pause it again.

```
$ manage.py resume_changes --kind relations.mute_changed
shard2: relations.mute_changed resumed
12 changes done, 12 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.changes.pausing import (
    BEFORE_ALL,
    delete_pause,
    end_pause,
    list_paused_rows,
    resume_rows,
)
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Ends the pause of one kind: its changes are delivered."
    unit = "changes"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN, JobFlag.BATCH_SIZE, JobFlag.RATE})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kind", required=True, help="for example posts.created")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        for alias in work.aliases:
            yield from _resume(alias, options["kind"], work)


def _resume(alias: str, kind: str, work: Work) -> Iterator[Batch]:
    """Resumes a kind on one database. If it is killed, the compensator finishes it."""
    if not work.dry_run:
        end_pause(alias, kind)
    after = BEFORE_ALL
    while rows := list_paused_rows(alias, kind, after, work.batch_size):
        moved = len(rows) if work.dry_run else resume_rows(alias, rows)
        after = rows[-1]
        yield Batch(len(rows), 0, alias, moved)
    if not work.dry_run and delete_pause(alias, kind):
        yield Batch(0, 0, alias, 0, details=[f"{alias}: {kind} resumed"])
