"""Commands that check, import and delete posts."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils.functional import cached_property

from infra.clock import now_ms
from infra.importing.command import ImportCommand
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import PostRecord, ReactionRecord
from infra.jobs.audit import AuditCommand, Derived
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, count
from infra.jobs.types import Batch, Work
from posts.external.actions.import_posts import end_import
from posts.jobs.audit_recorded import judge_recorded
from posts.jobs.audit_responding import (
    judge_quoting_posts,
    judge_reactions,
    judge_responding_posts,
)
from posts.jobs.backfill_threads import backfill_threads
from posts.jobs.import_posts import PostImporter
from posts.jobs.import_reactions import ReactionImporter
from posts.jobs.purge_deleted_posts import RETENTION_DAYS, purge_deleted_posts
from posts.sql import QUOTING_POSTS, REACTIONS, RESPONDING_POSTS, RESPONSES


class AuditResponses(AuditCommand):
    """Compares recorded replies, reposts and favourites with the posts and marks themselves.

    **When**: to check that replies, reposts, favourites and quotes are those of the accounts that
    made them: after a shard was restored, or changes were discarded. It reads all responses and
    what they are made from. Each difference is a line and a failed row. `--repair` repairs them:

    - *was lost*: the responder's shard lacks what the response says. A favourite, or its end, is
      written again. A reply or repost is ended everywhere, because its text is gone.
    - *is back*: a reply or repost whose deletion was lost. It is deleted again. A quote is revoked.
    - *is not recorded*, *is still counted*: the response is recorded as its source is now.
    - *shows a post that does not exist*: the repost is undone.

    With `--restored-wins` lost favourites end on both sides, and posts that are back stay and count
    as failed. What a pending change explains is compared again, for two seconds. `--account`
    selects responses to posts of the account, and what it responded itself. **Costs**: for 500 rows
    one query, and one or two on each shard of the other side.

    ```
    $ manage.py audit responses --repair
    account 17: favourite of 80389078423407831168 was lost: repaired
    account 17: post 80389078423407822101, a reply to 80389078423407831168, was lost: repaired
    8,990 rows done, 2 changed, 0 failed
    ```
    """

    name = "audit responses"
    has_restored_wins = has_total = True
    # Responses first: they show which posts and favourites a restored shard lacks, or has again.
    passes = (
        Derived(RESPONSES, judge_recorded),
        Derived(RESPONDING_POSTS, judge_responding_posts),
        Derived(REACTIONS, judge_reactions),
        Derived(QUOTING_POSTS, judge_quoting_posts),
    )


class BackfillThreads(JobCommand):
    """Writes the first post of the thread to replies that old code published.

    **When**: after replies were written by code that did not name the first post of their thread: a
    muted thread would miss them. The job writes it to their rows and drops what caches have of
    them. If it is killed, also run [`caches purge --family posts.week`](caches.md#caches-purge) at
    the end. **Costs**: one query per shard for each level of replies and batch, one statement.
    """

    name = "backfill threads"
    unit = "replies"
    flags = WALK
    job = staticmethod(backfill_threads)


class ImportPosts(ImportCommand):
    """Writes the posts in a file of another system, with their dates and without notifications. The
    same file again changes nothing.

    **When**: the accounts are there. Answers and reposts come after the posts that they are about,
    or in the same 2,000 lines. Posts of the last hour are pushed to live timelines, and polls
    return them. Older ones are in every list, index and search; live timelines get them at the end
    of the run, when they are dropped and built again. Without older posts they stay. A run that was
    killed before its end leaves them as they were: run it again. `--without-attachments` imports
    the text of posts with images; without it they are refused.

    ```
    $ manage.py import posts posts.jsonl --resume
    2,400,000 lines done, 1,800,000 changed, 0 failed
    ```
    """

    name = "import posts"
    record = PostRecord
    batch_size = 2_000

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        super().add_job_arguments(parser)
        parser.add_argument(
            "--without-attachments",
            action="store_true",
            help="import the text of posts with images; default: refuse them",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        self._importer = PostImporter(options["without_attachments"])
        # The run before, which was stopped, may have had some.
        self._importer.has_old = options["resume"]
        return super().iter_batches(work, options)

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        return self._importer.write(records, time.time(), dry_run)

    def finish(self) -> None:
        if self._importer.has_old:
            end_import()
        self._importer.has_old = False


class ImportReactions(ImportCommand):
    """Writes the reactions in a file of another system, with their dates. The same file again
    changes nothing.

    **When**: the posts are there. A reaction that no service declared is declared: its name is its
    word, and it does not notify until a service declares that it does. One that was taken back here
    does not come back. Favourites are refused. **Costs**: two statements a reaction, one after the
    other.

    ```
    $ manage.py import reactions reactions.jsonl
    52,000 lines done, 52,000 changed, 0 failed
    ```
    """

    name = "import reactions"
    record = ReactionRecord
    batch_size = 500

    @cached_property
    def _importer(self) -> ReactionImporter:
        return ReactionImporter()

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        return self._importer.write(records, now_ms(), dry_run)


class PurgeDeletedPosts(JobCommand):
    """Deletes the rows of posts that were deleted long ago. Their texts are already deleted.

    **When**: it runs automatically, once a day, in time slices. Run it by hand with another
    `--days`. It deletes the rows of posts that were deleted more than `--days` ago (30); the texts
    were removed at the deletion. An author's newest row stays, because the next id is made from it.
    A row with a live favourite, repost or reply stays, because undoing these needs the row.
    **Costs**: two statements for 500 rows, by an index of deleted posts only.
    """

    name = "purge deleted-posts"
    unit = "deleted posts"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = f"only posts deleted more than DAYS days ago ({RETENTION_DAYS})"
        parser.add_argument("--days", type=count, default=RETENTION_DAYS, metavar="DAYS", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return purge_deleted_posts(work, datetime.now(UTC) - timedelta(days=options["days"]))
