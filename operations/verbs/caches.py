"""Commands that delete and load entries of caches."""

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
from operations.cache_families import NOT_CACHES, PURGEABLE
from operations.jobs.warm_caches import warm_caches


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
