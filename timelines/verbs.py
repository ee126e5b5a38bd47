"""Commands on home timelines, the recent-posts index and the tag index."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from accounts.sql import ACCOUNTS
from infra.jobs.audit import AuditCommand, Derived
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from posts.sql import TAGGED_POSTS
from timelines.jobs.live_timelines import (
    BATCH_SIZE,
    STALE_RATIO,
    audit_timelines,
    parse_share,
    rebuild_timelines,
    vacuum_timelines,
)
from timelines.jobs.recent_index import audit_indexes, backfill_recent_posts, judge_indexed_posts
from timelines.jobs.tag_index import backfill_tags, judge_indexed, judge_lists, judge_tagged
from timelines.recent.sql import INDEXED
from timelines.tags.sql import TAGGED


class AuditRecentPosts(AuditCommand):
    """Compares the recent-posts index of each shard with the posts of all shards. --shard: this
    index only.

    **When**: to check the recent-posts index of each shard, or of one `--shard`: after a shard was
    restored, or changes were discarded. It reads the index (does each post have a row on its
    shard?) and the posts above the low-water mark (does the index have them? With
    `RECENT_INDEX=by_author` the posts of its own accounts). A row of a deleted post is no
    difference: readers skip it until its day is dropped. `--repair` ends what is derived from lost
    posts, and adds what is missing. **Costs**: for 500 rows one query, and one on each shard of
    their authors. The posts of all shards are read.

    ```
    $ manage.py audit recent-posts --shard shard2
    account 17: post 80389081244517729552 was lost
    account 45: post 80389081244517729999 is not in the index of shard2
    22,663 rows done, 2 failed
    ```
    """

    name = "audit recent-posts"
    placement = Placement.REPLICATED
    flags = WALK - {JobFlag.ACCOUNT}
    passes = Derived(INDEXED, judge_indexed_posts), audit_indexes

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: an index has the posts of all shards."""
        return False


class AuditTags(AuditCommand):
    """Compares the tag index with the posts.

    **When**: as [`audit recent-posts`](#audit-recent-posts), for the tag index. `--shard` selects
    tags and authors. `--repair` ends what is derived from lost posts, removes rows of posts that
    are no longer public or have not the tag, and adds what is missing. **Costs**: for 500 rows one
    query, and one or two on each shard of the other side.

    ```
    $ manage.py audit tags
    account 17: post 80389081244517729552 with #tea was lost
    2,408 rows done, 1 failed
    ```
    """

    name = "audit tags"
    flags = WALK - {JobFlag.ACCOUNT}
    passes = (
        Derived(TAGGED, judge_indexed),
        Derived(TAGGED_POSTS, judge_tagged),
        Derived(TAGGED, judge_lists),
    )


class AuditTimelines(JobCommand):
    """Compares live timelines with the posts of their readers' followees. A timeline that lacks
    entries counts as failed, so the exit code is 1.

    **When**: to find out whether live home timelines are complete: after Redis came back with old
    data, after parked changes were discarded, with a new release. For each reader with a live
    timeline it compares the entries from the low-water mark up with the posts tables. Readers whose
    timelines lack entries are listed and count as failed, so the exit code is 1. `--share 0.01`
    compares a random hundredth of the timelines. `--repair` adds the missing entries, as
    [`rebuild timelines`](#rebuild-timelines) does. A timeline that lacks more than it can hold is
    dropped; its reader's next page builds it.

    The result is right while the service writes. An entry is missing if no pending change could
    bring it; a post whose change was parked is missing. A reader whose following list is changing
    is skipped. *Orphaned* entries are of deleted posts, or of authors who are not followed any
    more. Entries *below the mark* are read by no page. Both are stale, and no fault: pages leave
    them out. If a missing entry comes back after a repair, the author's side of the follow is
    missing: run [`audit edges --repair`](relations.md#audit-edges). **Costs**: one query and one
    round trip per 100 accounts; one round trip and one query on every shard per live timeline
    compared, and twice that if entries are missing. `--rate` counts all accounts, live or not. The
    audit does not extend the life of a timeline.

    ```
    $ manage.py audit timelines
    account 17: 2 missing, 1 orphaned, 0 below the mark
    399 accounts done, 1 failed
    $ manage.py audit timelines --repair
    account 17: 2 missing, 1 orphaned, 0 below the mark: repaired
    400 accounts done, 1 changed, 0 failed
    ```

    The compensator always does the same with samples. Every ten seconds it compares one random live
    timeline of each shard, and the timelines in which it found missing entries before. `/metrics`
    of any web process shows, by shard:

    - `tideline_timeline_holes`: entries that samples found missing, and that are still missing.
      More than 0 means a bug, or a Redis that lost a write. `timelines.holes_found` in the
      compensator's log names the readers.
    - `tideline_timeline_sampled_at_seconds`: if it is older than a minute, no compensator runs or a
      shard is down. Without Redis there are no such metrics.
    """

    name = "audit timelines"
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE
    total_of = (ACCOUNTS,)

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--share",
            type=parse_share,
            default=1.0,
            help="share of the live timelines to compare, chosen at random: 0.01 (all)",
        )
        parser.add_argument("--repair", action="store_true", help="add the missing entries")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_timelines(work, options["share"], options["repair"])


class BackfillRecentPosts(JobCommand):
    """Fills the recent-posts index of shards that have none yet, from the posts of all shards.
    --shard: fill the index of this shard only.

    **When**: with every new release, after `migrate_shards`; and for a new shard, once all
    processes know it. It fills the recent-posts index of every shard that has none yet, from the
    posts of all shards. At the end it sets the low-water mark. Until then home pages are pulled
    from the posts tables: slower, but right. `--shard` names the shard to fill. `--again` also
    fills a complete index: after a parked `posts.created` or `timelines.shard_missed` was
    discarded. No process reads that index until the run ends. With `RECENT_INDEX=by_author` each
    shard gets the posts of its own accounts. It is also a step [from there back to
    `replicated`](../../how-to/choose-a-recent-posts-index.md#change-it-while-the-service-runs).
    **Costs**: per 500 accounts one query on their shard, and one statement per shard filled.
    Nothing if all are complete. **Stopping it**: Ctrl-C or `kill -9`; `--resume` goes on. A run
    with `--limit` does not set the mark.

    ```
    $ manage.py backfill recent-posts
    3,959 accounts done, 18,704 changed, 0 failed
    ```
    """

    name = "backfill recent-posts"
    unit = "accounts"
    placement = Placement.REPLICATED
    flags = WALK - {JobFlag.ACCOUNT}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--again", action="store_true", help="fill complete indexes too")

    def is_by_database(self, options: dict[str, Any]) -> bool:
        """False: an index needs the posts of all shards, and one walk fills all indexes."""
        return False

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_recent_posts(work, options["again"])


class BackfillTags(JobCommand):
    """Adds the public posts with tags that the tag index lacks.

    **When**: after a parked `posts.created` was discarded. It walks the public posts with tags and
    adds those that the index lacks. `--shard` and `--account` select by author. **Costs**: per 500
    posts one query on their shard, and two statements for each shard that has one of their tags.
    """

    name = "backfill tags"
    unit = "posts"
    flags = WALK
    job = staticmethod(backfill_tags)


class RebuildTimelines(JobCommand):
    """Adds missing entries to live timelines and removes stale ones. Timelines stay readable. Needs
    --account, --shard or --all. --dry-run lists the first 1,000 entries.

    **When**: [`audit timelines`](#audit-timelines) found something, or home timelines have to equal
    the posts to the last entry. It needs `--account`, `--shard` or `--all`. `--dry-run` lists up to
    1,000 entries that it would add or remove. Readers notice nothing else: a timeline stays
    readable, and keeps what is pushed during the run. A reader without a live timeline gets none;
    the next page builds it. **Costs**: as `audit timelines`, and two round trips per timeline that
    differs. `--rate` limits the load on the shards. **Stopping it**: Ctrl-C or `kill -9`. One
    timeline may then have its missing entries and still its stale ones. `--resume` goes on.

    ```
    $ manage.py rebuild timelines --account 17 --dry-run
    account 17: + 79155897934001211936 of 2: missing
    account 17: - 79155897934001213232 of 3: orphaned
    1 accounts looked at, 1 would change, 0 failed
    $ manage.py rebuild timelines --all --rate 200
    400 accounts done, 1 changed, 0 failed
    ```
    """

    name = "rebuild timelines"
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE
    total_of = (ACCOUNTS,)

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all", action="store_true", help="repair the timelines of all accounts"
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        chosen = [options["account"] is not None, options["shard"] is not None, options["all"]]
        if sum(chosen) != 1:
            raise CommandError(
                "choose the timelines with exactly one of --account, --shard and --all"
            )
        return rebuild_timelines(work)


class VacuumTimelines(JobCommand):
    """Removes stale entries from live timelines that have many: entries of deleted posts, of
    authors no longer followed, and below the low-water mark.

    **When**: seldom; many posts were deleted, or an author with many followers is gone, and pages
    of readers who seldom come should not load these entries. It removes the stale entries (see
    [`audit timelines`](#audit-timelines)) of live timelines in which their share is above
    `--stale-ratio` (a quarter). It adds nothing. Without `--account` it first deletes the expired
    rows of the stores `postgres` and `tiered`. The compensator does that too: 500 timelines per
    shard in ten minutes. **Costs**: as `audit timelines`, and one round trip per timeline that is
    written.

    ```
    $ manage.py purge stale-entries
    account 17: 140 of 420 entries are stale
    400 accounts done, 1 changed, 0 failed
    ```
    """

    name = "purge stale-entries"
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE
    total_of = (ACCOUNTS,)

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--stale-ratio",
            type=parse_share,
            default=STALE_RATIO,
            help=f"write timelines with more than this share of stale entries ({STALE_RATIO})",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return vacuum_timelines(work, options["stale_ratio"])
