"""The generation of the current store: timelines of earlier generations missed pushes.

    epoch of a build, 64 bits    high 32: the generation; low 32: a random number

A generation begins when a process starts with another store than the process that started last.
Two processes that start at once may begin two generations. Then the timelines that the earlier one
builds are built once more.
"""

from functools import cache

import structlog

from infra.sharding.placement import GLOBAL_ALIAS
from timelines.models import StoreGeneration

RANDOM_BITS = 0xFFFFFFFF
log = structlog.get_logger()


@cache
def start_generation(store: str) -> int:
    """The number of the current generation; begins one when the last one has another store.

    Cached per process. Cost of the first call: one query, and one more to begin a generation.
    """
    last = StoreGeneration.objects.using(GLOBAL_ALIAS).order_by("-id").first()
    if last is None or last.store != store:
        last = StoreGeneration.objects.using(GLOBAL_ALIAS).create(store=store)
        log.info("timelines.store_generation_started", store=store, generation=last.id)
    return int(last.id)


def first_epoch(generation: int) -> int:
    """The lowest epoch that a build of this generation can have."""
    return generation << 32


def epoch_in(generation: int, epoch: int) -> int:
    """An epoch of this generation, with the low 32 bits of `epoch`."""
    return first_epoch(generation) | epoch & RANDOM_BITS
