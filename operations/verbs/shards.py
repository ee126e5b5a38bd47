"""The command for a shard that came back without its last writes."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS
from infra.jobs.flags import JobFlag, parse_moment
from infra.jobs.types import Batch, Work
from infra.sharding.pulse import find_pulse, take_pulse
from operations.jobs.reconcile_shard import Restored, reconcile_shard, settle

# The clocks of two servers may differ by a part of this (shards check).
CLOCKS = timedelta(seconds=10)


class ReconcileShard(JobCommand):
    """Brings a shard that was restored from a backup, or promoted without its last writes, back
    into agreement with the other databases, and names what was lost, by account.

    **When**: once after a shard was [restored from a
    backup](../../how-to/back-up.md#restore-a-shard), or came back from a failover [without its last
    writes](../../how-to/lose-a-database-server.md#without-a-synchronous-standby), as soon as it
    answers. `--shard` names it, and `--since` says when the backup began; without an offset it is
    UTC. Without `--since` it is ten seconds before the last pulse that the shard still has, if
    [`shards check`](#shards-check) says that writes may be lost. `--nothing-lost` does nothing but
    end that notice. The command does all steps in order:

    1. `flush`, `drain`: it empties Redis and stored timelines, which have later data, and delivers
       all changes.
    2. `deletions`: it deletes posts again that are back, by the recent-posts indexes of the other
       shards.
    3. `index`, `replay`, `accounts`, `decisions`: it fills the recent-posts index of the shard,
       replays what the other databases delivered since then (without mails), creates lost accounts,
       and carries out moderators' decisions again.
    4. `counts`, `edges`, `responses`, `conversations`, `tags`, `recent posts`, `notifications`: it
       compares and repairs all that is derived, on all shards, as `rebuild counters` and the
       `audit` commands do.
    5. `untraced`: it says what cannot be named, because no other database knew of it.
    6. `settled`: it ends the notice of [`shards check`](#shards-check).

    Each step is a line that begins with `#`. Each loss is one line, which begins with the account
    that had it. `--restored-wins` undoes on the other shards what the restored one lost, instead of
    writing it again; blocks are kept. `--dry-run` prints what each step would do now. A run that
    finds changes which are parked, paused or cannot be delivered names their lanes and ends with 1.
    Unpark them, and run it again. **Costs**: those of all audits; Redis is cold. The service may
    run. **Stopping it**: Ctrl-C or `kill -9`; `--resume` goes on with the step that was begun. A
    second run finds nothing.

    ```
    $ manage.py shards reconcile --shard shard1 --since 2026-11-26T03:00:00
    # flush
    # drain
    # deletions
    account 17: post 80389078423407822097 is back: its deletion was lost: repaired
    …
    # edges
    account 17: edge 17 → 45: there is no forward edge, a block was lost: repaired
    # responses
    account 17: favourite of 80389078423407831168 was lost: repaired
    account 17: post 80389078423407822101, a reply to 80389078423407831168, was lost: repaired
    …
    197 rows done, 22 changed, 0 failed
    ```
    """

    name = "shards reconcile"
    unit = "rows"
    flags = frozenset(
        {JobFlag.SHARD, JobFlag.DRY_RUN, JobFlag.BATCH_SIZE, JobFlag.RATE, JobFlag.RESUME}
    )

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since",
            type=parse_moment,
            help="when the backup began, ISO 8601; else what shards check says",
        )
        parser.add_argument(
            "--nothing-lost",
            action="store_true",
            help="only end the notice of shards check, as after a planned switch",
        )
        parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: it compares the shard with all others."""
        return False

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if options["shard"] is None:
            raise CommandError("--shard is required")
        if not work.dry_run:
            take_pulse(options["shard"])  # a compensator may not have looked yet
        restored = _restored(datetime.now(UTC), options)
        if options["nothing_lost"]:
            return settle(restored, work)
        return reconcile_shard(work, restored, self.pause)

    def _line_writer(self, options: dict[str, Any]) -> Callable[[str], None]:
        """All lines, each once: several databases know of one lost post."""
        write = self.stderr.write if options["json"] else self.stdout.write
        written: set[str] = set()

        def write_once(line: str) -> None:
            if line not in written:
                written.add(line)
                write(line)

        return write_once


def _restored(now: datetime, options: dict[str, Any]) -> Restored:
    """Since the moment of --since, which is more exact than that of the last pulse.

    Raises: CommandError.
    """
    given, pulse = options["since"], find_pulse(options["shard"])
    if given and given > now:
        raise CommandError("--since is in the future")
    lost_since = pulse and pulse.lost_since
    since = given or (min(lost_since, now) - CLOCKS if lost_since else None)
    if since is None:
        raise CommandError(f"no loss of {options['shard']} is known: --since must say when it was")
    noticed_at = pulse.noticed_at if pulse else None
    return Restored(options["shard"], since, options["restored_wins"], noticed_at)
