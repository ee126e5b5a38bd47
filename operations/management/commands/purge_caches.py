"""`manage.py purge_caches`: deletes families of caches from Redis."""

from argparse import ArgumentParser
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from django.core.management import CommandError
from redis.exceptions import RedisError

from infra.caching.purging import CacheFamily, PurgeStep, count_keys, purge
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from operations.cache_families import NOT_CACHES, PURGEABLE


class Command(JobCommand):
    help = "Deletes the entries of the named cache families from Redis; readers load them again."
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
