"""Commands that pause a kind of change, and end the pause."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from infra.changes.pausing import (
    BEFORE_ALL,
    delete_pause,
    end_pause,
    list_paused_rows,
    list_pauses,
    pause_kind,
    resume_rows,
)
from infra.changes.registry import kinds
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement


class PauseChanges(JobCommand):
    """Pauses one kind of change: its changes wait until changes resume, all others go on.

    **When**: a consumer is broken, or one kind of change is too much for a store. Changes of
    `--kind` wait, on all databases or on one `--shard`, until [`changes resume`](#changes-resume).
    A restart does not end the pause. [`changes lag`](#changes-lag) shows the `--reason`.
    Pausing a paused kind again changes the reason.

    *These wait*: the effects of that kind, for all owners, and follow-up changes: while
    `posts.created` is paused, no post is pushed. Changes of other kinds go on, also later ones of
    the same owner. Those that need the effect of a paused kind fail, back off and are parked in the
    end: while `accounts.user_created` is paused, new accounts whose row was not written inline
    cannot act.

    *These do not wait*: inline consumers, so an account sees its own writes and a block holds; a
    batch that a drain has already taken; `changes replay`.

    **Costs**: one row. Each row of the kind is written once more, when the drain moves it to the
    paused lane.

    ```
    $ manage.py changes pause --kind relations.mute_changed --reason "INC-12, forget_relationships fails" --shard shard2
    shard2: relations.mute_changed paused
    1 databases done, 1 changed, 0 failed
    ```

    [Metrics](../metrics.md): `tideline_changes_paused_kinds`, `tideline_changes` and
    `tideline_changes_oldest_seconds`, which need neither Redis nor a compensator.
    """  # noqa: E501

    name = "changes pause"
    unit = "databases"
    flags = frozenset({JobFlag.SHARD, JobFlag.DRY_RUN})
    placement = Placement.EVERYWHERE

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kind", required=True, help="for example posts.created")
        parser.add_argument("--reason", required=True, help="why; changes lag shows it")

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


class ResumeChanges(JobCommand):
    """Ends the pause of one kind: its changes are delivered.

    **When**: the reason of [`changes pause`](#changes-pause) is over. The waiting changes are
    delivered, oldest first. New changes are delivered as usual. `--rate` slows it down. **Costs**:
    one statement for 500 changes, and the cost of the consumers. **Stopping it**: Ctrl-C or `kill
    -9`. The compensator finishes it within seconds. To keep the kind paused, pause it again.

    ```
    $ manage.py changes resume --kind relations.mute_changed
    shard2: relations.mute_changed resumed
    12 changes done, 12 changed, 0 failed
    ```
    """

    name = "changes resume"
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
