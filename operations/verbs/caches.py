"""Commands that delete and load entries of caches.

All families of Redis keys: caches that caches purge may empty, and the others with a reason.
"""

import time
from argparse import ArgumentParser
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from django.core.management import CommandError
from redis.exceptions import RedisError

from infra.caching.purging import CacheFamily, PurgeStep, count_keys, purge
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag, count
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from operations.jobs.warm_caches import warm_caches

PURGEABLE = {
    family.name: family
    for family in (
        CacheFamily("accounts.profile", "one row an account when it is next shown"),
        CacheFamily("accounts.actor", "one row an account that a service acts for next"),
        CacheFamily("counters.account", "one row an account when it is next shown"),
        CacheFamily("posts.week", "two queries an author and week when next shown"),
        CacheFamily("posts.single", "one query for the old posts of a page"),
        CacheFamily("posts.poll", "one query for the polls of a page"),
        CacheFamily("posts.poll_votes", "one query for a viewer's votes on the polls of a page"),
        CacheFamily("posts.counts", "one query for the posts of a page"),
        CacheFamily("posts.replies", "one query for each level of a thread and shard"),
        CacheFamily(
            "posts.ancestors", "one query for the posts above a reply, for each shard in turn"
        ),
        CacheFamily("posts.translation", "a request to the translator when it is next asked for"),
        CacheFamily("notifications.rows", "two queries for each page of notifications"),
        CacheFamily("posts.conversations.unread", "one query an account that reads a page"),
        CacheFamily("posts.newest", "one query an author whose page is shown"),
        CacheFamily("posts.viewer_state", "two queries a viewer"),
        CacheFamily("relations.following", "the whole list of an account, once"),
        CacheFamily("relations.quiet", "the quiet follows of an account, once"),
        CacheFamily("relations.followers", "the newest 10,000 of an account, once"),
        CacheFamily("relations.relationship", "two queries a viewer and page"),
        CacheFamily("caching.viewer", "one more round trip a viewer and process"),
        CacheFamily("timelines.public", "one query of the recent-posts index"),
        CacheFamily("timelines.home", "a rebuild (a pull) for each reader's next page"),
        CacheFamily("timelines.zset", "a rebuild (a pull) for each reader's next page"),
        CacheFamily("timelines.hot_entries", "one query a hot author"),
        CacheFamily("timelines.promotions.hidden", "one query a viewer, while a campaign runs"),
        CacheFamily("timelines.home_tags", "one query a viewer"),
        CacheFamily("timelines.tag_entries", "one query for a page's home tags on each shard"),
        CacheFamily("timelines.recent", "one query for the authors of a pull on each shard"),
        CacheFamily("timelines.markers", "one query by key for each account"),
    )
}
# caches purge refuses these and prints the reason.
NOT_CACHES = {
    "accounts.token": "ended tokens would be accepted again; entries expire within ten minutes",
    "caching.hot": "counts of reads; they expire within seconds",
    "changes.drainers": "which drainers run; written again every three seconds",
    "changes.done": "what requests have done of changes; the drain would do it again",
    "changes.own_acts": "acts that are not delivered; their accounts would not see them until then",
    "changes.wake_up": "wake-ups of drainers; one element for each group of lanes",
    "changes.lag": "reports of the compensator; they expire after a minute",
    "counters.hot": "how often counts are written; these keys expire within seconds",
    "counters.drift": "results of samples; they are written again every ten seconds",
    "caching.quota": "used quotas; all callers would start from zero",
    "moderation.queue": "lengths of the moderators' queue; written again every half minute",
    "moderation.readers": "which reports moderators have open; they expire within minutes",
    "moderation.decisions": "counts of decisions; without them all rows are counted again",
    "operations.day": "a day of points, for the admin's first page; its curves would start empty",
    "operations.samples": "the last hour of samples, for charts; the charts would start empty",
    "processes.reports": "what processes have in common; written again every five seconds",
    "timelines.catch_up": "orders of catch-ups; later pages would have another order",
    "timelines.builds": "load tokens of builds; others would build the same timeline at once",
    "timelines.holes": "results of samples; they are written again every ten seconds",
    "timelines.hot": "the set of hot authors with its validator",
    "timelines.increments": "the stream that feeds the last-post indexes",
    "timelines.public_before": "since when posts are on the public timeline",
    "timelines.polls": "what polling clients were served; they would get late posts once more",
    "timelines.search": "what searches found; these entries expire within seconds",
    "timelines.trends": "what trends; it is computed again every five minutes",
    "timelines.touched": "which readers read lately; the cold store needs it",
    "timelines.warmings": "load tokens of copies from rows; others would copy the same at once",
    "timelines.repair_requested": "readers whose repair was requested within the last minute",
    "timelines.promotions.day": "which promotions readers saw today; daily caps would start again",
    "timelines.promotions.session": "distances between promotions; promotions would move",
    "timelines.repairs": "the queue of timelines to repair",
}


class PurgeCaches(JobCommand):
    """Deletes the entries of the named cache families from Redis; readers load them again.

    **When**: entries of one or more families (`--family`, may be repeated) are wrong or in the way:
    written by a release with a bug, in a layout that no process uses any more, or too many. The
    families and the cost of their absence are in
    [caching.md](../../explanation/caching.md#families-and-which-may-be-purged); families that are
    not caches are refused. To correct entries instead, use
    [`rebuild relation-caches`](relations.md#rebuild-relation-caches) and
    [`rebuild count-cache`](counters.md#rebuild-count-cache). To remove everything, flush Redis.
    **Costs**: a SCAN through all keys once per family, `--batch-size` of them (500) at a time:
    Redis is busy for a fraction of a millisecond per step. Then all readers pay. `--rate`, in keys
    per second, spreads the cost. On a cluster each primary is scanned. Keys whose slot moves during
    the scan may be missed: run it again. Pages that processes
    [remember](../../explanation/memory.md#limits) may stay for a minute.

    ```
    $ manage.py caches purge --family posts.week --rate 20000
    caches purge: 1,204,311 of 1,204,311 (19,980/s) done
    1,204,311 keys done, 88,120 changed, 0 failed
    ```
    """

    name = "caches purge"
    unit = "keys"
    flags = frozenset(
        {JobFlag.DRY_RUN, JobFlag.LIMIT, JobFlag.BATCH_SIZE, JobFlag.RATE, JobFlag.RESUME}
    )
    placement = Placement.GLOBAL

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--family",
            action="append",
            required=True,
            metavar="NAME",
            help=f"a family without its version; may be repeated: {', '.join(PURGEABLE)}",
        )

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        total = count_keys() * len(families_of(options["family"]))
        return total if work.limit is None else min(total, work.limit)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        families = families_of(options["family"])
        steps = purge(families, work.batch_size, work.after, work.dry_run)
        return _iter_batches(steps, work.dry_run)


def families_of(names: list[str]) -> list[CacheFamily]:
    """Raises CommandError for a name that is unknown or not a cache."""
    for name in names:
        if name in NOT_CACHES:
            raise CommandError(f"{name} is not a cache: {NOT_CACHES[name]}")
        if name not in PURGEABLE:
            raise CommandError(f"{name!r} is not a family: {', '.join(PURGEABLE)}")
    return [PURGEABLE[name] for name in dict.fromkeys(names)]


def _batch(step: PurgeStep, dry_run: bool) -> Batch:
    lines = [key.decode(errors="replace") for key in step.keys] if dry_run else []
    done = max(step.looked_at - step.failed, 0)
    return Batch(done, step.failed, step.position["family"], step.changed, step.position, lines)


def _iter_batches(steps: Generator[PurgeStep, None, None], dry_run: bool) -> Iterator[Batch]:
    try:
        with closing(steps):
            for step in steps:
                yield _batch(step, dry_run)
    except RedisError as error:
        raise CommandError(f"Redis is away: {error}") from error


class WarmCaches(JobCommand):
    """Loads profile, counts, recent posts and hot-author entries of every hot author, or of one
    --account, or of those of an announced event, where Redis does not have them.

    **When**: after Redis was flushed or replaced, before many readers come back. For every hot
    author (or one `--account`) it writes what Redis lacks of the profile, the counts, the posts of
    this week and the last, and the hot-author entries. These are the entries that many requests
    would miss in the same moment. `--dry-run` names the keys. Entries of other accounts are written
    by their first reader. Before an announced event name those who will be looked at: `caches warm
    --event 7 --event 8` loads the entries of these accounts, hot or not. **Costs**: a query and a
    round trip per 100 hot authors, and for missing entries what their first reader would pay.
    **Stopping it**: Ctrl-C or `kill -9`. Run it again; entries that exist are skipped.

    ```
    $ manage.py caches warm
    37 accounts done, 148 changed, 0 failed
    ```
    """

    name = "caches warm"
    unit = "accounts"
    flags = WALK
    batch_size = 100

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--event",
            type=count,
            metavar="ID",
            action="append",
            default=[],
            help="only this account, hot or not; may be repeated",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        try:
            yield from warm_caches(work, time.time(), options["event"])
        except RedisError as error:
            raise CommandError(f"Redis is away: {error}") from error
