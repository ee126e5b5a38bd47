"""Since when this store is the one that is pushed to: what was laid before lacks what passed it by.

    epoch of a build, 64 bits    high 32: the generation; low 32: a random number

A generation begins when a process starts with another store than the last one had. Two that
start at once may begin two: then what the earlier one lays is built once more.
"""

from functools import cache

import structlog

from infra.sharding.placement import GLOBAL_ALIAS
from timelines.models import StoreChoice

TELLS_APART = 0xFFFFFFFF
log = structlog.get_logger()


@cache
def start_generation(store: str) -> int:
    """The number of the generation in which this store is chosen; higher than those of all before.

    As of the first call in this process. Cost: then a query, a second one in a new generation.
    """
    last = StoreChoice.objects.using(GLOBAL_ALIAS).order_by("-id").first()
    if last is None or last.store != store:
        last = StoreChoice.objects.using(GLOBAL_ALIAS).create(store=store)
        log.info("timelines.store_chosen", store=store, generation=last.id)
    return int(last.id)


def first_epoch(generation: int) -> int:
    """The lowest that builds of this generation, or of a later one, may have."""
    return generation << 32


def epoch_in(generation: int, epoch: int) -> int:
    """The epoch, in a generation."""
    return first_epoch(generation) | epoch & TELLS_APART
