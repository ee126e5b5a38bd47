"""`manage.py pause_changes`: pauses one kind of change until resume_changes.

**When**: a consumer is broken, or one kind of change is too much for a store. Changes of `--kind`
wait, on all databases or on one `--shard`, until [`resume_changes`](#resume_changes). A restart
does not end the pause. [`show_change_lag`](#show_change_lag) shows the `--reason`. Pausing a paused
kind again changes the reason.

*These wait*: the effects of that kind, for all owners, and follow-up changes: while `posts.created`
is paused, no post is pushed. Changes of other kinds go on, also later ones of the same owner. Those
that need the effect of a paused kind fail, back off and are parked in the end: while
`accounts.user_created` is paused, new accounts whose row was not written inline cannot act.

*These do not wait*: inline consumers, so an account sees its own writes and a block holds; a batch
that a drain has already taken; `replay_changes`.

**Costs**: one row. Each row of the kind is written once more, when the drain moves it to the paused
lane.

```
$ manage.py pause_changes --kind relations.mute_changed --reason "INC-12, forget_relationships fails" --shard shard2
shard2: relations.mute_changed paused
1 databases done, 1 changed, 0 failed
```

[Metrics](../metrics.md): `tideline_changes_paused_kinds`, `tideline_changes` and
`tideline_changes_oldest_seconds`, which need neither Redis nor a compensator.
"""  # noqa: E501

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from infra.changes.pausing import list_pauses, pause_kind
from infra.changes.registry import kinds
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class Command(JobCommand):
    help = "Pauses one kind of change: its changes wait until resume_changes, all others go on."
    unit = "databases"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kind", required=True, help="for example posts.created")
        parser.add_argument("--reason", required=True, help="why; show_change_lag shows it")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        kind, reason = options["kind"], options["reason"]
        if kind not in kinds():
            raise CommandError(f"{kind!r} is no kind of change: {', '.join(sorted(kinds()))}")
        for alias in work.aliases:
            if work.dry_run:
                before = {(p.kind, p.reason) for p in list_pauses(alias) if not p.is_ending}
                is_new = (kind, reason) not in before
            else:
                is_new = pause_kind(alias, kind, reason)
            lines = [f"{alias}: {kind} paused"] if is_new else []
            yield Batch(1, 0, alias, int(is_new), details=lines)
