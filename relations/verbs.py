"""Commands on follows and blocks, and the caches of them."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management import CommandError
from django.utils.functional import cached_property

from accounts.sql import ACCOUNTS
from infra.clock import now_ms
from infra.importing.command import ImportCommand
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import FollowRecord
from infra.jobs.audit import AuditCommand, Derived
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from relations.jobs.audit_backward import judge_backward
from relations.jobs.audit_counts import judge_counts
from relations.jobs.audit_forward import judge_forward
from relations.jobs.backfill_backward_edges import backfill_backward_edges
from relations.jobs.edge_sightings import BACKWARD, FORWARD
from relations.jobs.import_follows import FollowImporter
from relations.jobs.rebuild_relation_caches import rebuild_relation_caches
from relations.jobs.reset_relations import reset_relations


class AuditEdges(AuditCommand):
    """Compares forward edges, backward edges and counts. --account compares the rows that the
    account owns.

    **When**: to check that both sides of all edges agree, after a restored shard, a crash, a
    migration, or parked changes that were discarded. The command reads all accounts (are the counts
    of relations the number of their rows?), all forward edges (does an equal backward edge exist?)
    and all backward edges (does a forward edge exist; is there a follow opposite to a block?). Each
    difference is a line, up to 1,000 lines, and a failed row. The exit code is 1 while a difference
    is left.

    `--repair` repairs the differences; `--repair --dry-run` counts the repairs. For a backward edge
    that is missing, older or different it appends a change of the forward edge, and the drain
    mirrors it. A backward edge that is ahead is what is left of a write that the follower's shard
    lost when it was restored. The forward edge is written again with the next revision, so a lost
    follow, unfollow or block is in force again. A follow that may not begin now (a block, a limit)
    ends. With `--restored-wins` the forward edge keeps its content, and the lost write ends on both
    sides; but a lost block is kept. A follow opposite to a block is ended as `unfollow` ends it.
    Counts are repaired as [`rebuild counters`](counters.md#rebuild-counters) repairs them.

    It is correct while the service writes: an edge without a pending change, whose other side is
    read later, differs for good or not at all. While a change is pending, the command compares the
    edge again, for two seconds. An edge whose change is still pending then is named so and counts
    as failed, because the drain is behind ([`changes lag`](changes.md#changes-lag)). Do not
    run it together with `python -m lab.graph`, which writes both sides one after the other without
    changes.
    **Costs**: per 500 rows one query and one to each shard of the other side. Counts read each
    edge's index entry once, 10,000 a query. No locks, except the lock of one account per repair.
    `--account` compares the rows that the account owns, on its shard: its forward edges and its
    backward edges, but not followers that are missing among those.

    ```
    $ manage.py audit edges
    account 45: followers is 1, rows 2
    edge 44 → 45: backward edge is missing
    edge 44 → 46: backward edge is ahead, an end was lost
    8,987 rows done, 3 failed
    $ manage.py audit edges --repair
    account 45: followers is 1, rows 2: repaired
    edge 44 → 45: backward edge is missing: repaired
    edge 44 → 46: backward edge is ahead, an end was lost: repaired
    8,990 rows done, 3 changed, 0 failed
    ```

    `--repair` leaves forward edges to an account that does not exist. It ends backward edges from
    such an account: run [`audit accounts --repair`](accounts.md#audit-accounts) first.
    """

    name = "audit edges"
    has_restored_wins = has_total = True
    # Counts first: the repair of an edge moves counts, and a wrong count could become negative.
    passes = (
        Derived(ACCOUNTS, judge_counts),
        Derived(FORWARD, judge_forward),
        Derived(BACKWARD, judge_backward),
    )


class BackfillBackwardEdges(JobCommand):
    """Writes backward edges and follower counts that are missing or older than their forward edge.
    --shard and --account select by follower.

    **When**: a migration imported forward edges (follows, blocks) and nothing else. The command
    writes the backward edges that are missing or older than their forward edge, and the follower
    counts. Following counts that are missing too are for
    [`rebuild counters`](counters.md#rebuild-counters), before or after it. `--shard` and
    `--account` select by follower. `--dry-run` counts the missing and older edges. The service and
    the drain may run at the same time: an older revision never replaces a newer one. **Costs**: per
    500 forward edges and shard of followees three queries and three round trips. Where an edge is
    missing, six statements more, and a lock on the followees for that time. `--rate` limits the
    load of the shards. The cached relationships of all pairs it reads are dropped. **Stopping it**:
    Ctrl-C or `kill -9`; `--resume` continues. It ends when Redis is away: resume it then.

    ```
    $ manage.py backfill backward-edges --dry-run
    4,295 forward edges looked at, 4,295 would change, 0 failed
    $ manage.py backfill backward-edges
    4,295 forward edges done, 4,295 changed, 0 failed
    ```

    Edges to accounts that do not exist are failed rows. They are named, and nothing is written for
    them.
    """

    name = "backfill backward-edges"
    unit = "forward edges"
    flags = WALK
    total_of = (FORWARD,)
    job = staticmethod(backfill_backward_edges)


class ImportFollows(ImportCommand):
    """Writes the follows in a file of another system, with their dates and without notifications.
    The same file again changes nothing.

    **When**: the accounts are there. Both lists and all counts have the follow at the end, and no
    account is notified. Blocks win, also those that began here. A follow that ended here comes back
    only if it began again there: its `since` is later. Follows are limited by `FOLLOW_CAP`, not by
    the day. A file whose lines of one follower are together is imported fastest.

    ```
    $ manage.py import follows follows.jsonl.gz
    import follows: 412,000 of 1,000,000 (9,939/s, 59 s left)
    1,000,000 lines done, 1,000,000 changed, 0 failed
    ```
    """

    name = "import follows"
    record = FollowRecord

    @cached_property
    def _importer(self) -> FollowImporter:
        return FollowImporter()

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        return self._importer.write(records, now_ms(), dry_run)


class RebuildRelationCaches(JobCommand):
    """Compares the cached following and followers lists of accounts with the rows, replaces those
    that differ, and drops cached relationships.

    **When**: pages show other lists than the shards have, because Redis kept data that it must not
    keep (see [Redis](../../how-to/set-up-redis.md)), or was not flushed after a shard was restored.
    The command compares the cached following, quiet and followers lists of accounts with the rows.
    It names the lists that differ, replaces them in one step, and drops cached relationships. To
    drop everything, flush Redis instead. **Costs**: two round trips for 500 accounts. For each
    cached list a round trip that reads the whole list, and two queries. `--rate` limits the load of
    the shards. The next read of a dropped relationship costs two queries.

    ```
    $ manage.py rebuild relation-caches --account 44
    account 44: relations.following:v1
    account 44: relations.relationship:v2
    1 accounts done, 2 changed, 0 failed
    ```
    """

    name = "rebuild relation-caches"
    unit = "accounts"
    flags = WALK
    total_of = (ACCOUNTS,)
    job = staticmethod(rebuild_relation_caches)


class ResetRelations(JobCommand):
    """Ends all follows and blocks of an account, and those that others have of it, as if each
    account had done it itself. Needs --account, and --yes unless it is a --dry-run.

    **When**: an account must lose all its relations, for moderation or for a test. The command ends
    the account's follows and blocks, and those that others have of it, edge by edge, as if each
    account had done it itself. Mutes stay. `--keep-blocks` keeps blocks by other accounts. The
    command needs `--yes`, or `--dry-run`, which names the edges. It cannot be undone, and the
    account may follow again afterwards. **Costs**: five statements on the follower's shard for each
    edge, and five on the followee's. An account with a million followers takes hours; choose the
    `--rate`. Without it, ended edges are skipped.

    ```
    $ manage.py accounts reset-relations --account 44 --dry-run
    edge 44 → 45: FOLLOW
    edge 47 → 44: WHISPER
    2 edges looked at, 2 would change, 0 failed
    $ manage.py accounts reset-relations --account 44 --yes
    edge 44 → 45: FOLLOW
    edge 47 → 44: WHISPER
    2 edges done, 2 changed, 0 failed
    ```
    """

    name = "accounts reset-relations"
    unit = "edges"
    flags = WALK - {JobFlag.SHARD}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="this cannot be undone")
        parser.add_argument(
            "--keep-blocks",
            action="store_true",
            help="keep the blocks by other accounts",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None:
            raise CommandError("--account is required: the account whose edges shall end")
        if not (options["yes"] or work.dry_run):
            raise CommandError("this cannot be undone: --dry-run shows it, --yes does it")
        return reset_relations(work, options["keep_blocks"])
