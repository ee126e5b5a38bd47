"""Since when this store is the one that is pushed to: what was laid before lacks what passed it by.

    epoch of a build, 64 bits    the period it belongs to (32), what tells it from others (32)

A period begins when a process starts with another store than the last one that started. Two that
start at once may begin two: then what the earlier one lays is built once more.
"""

from functools import cache

import structlog

from infra.sharding.placement import GLOBAL_ALIAS
from timelines.models import StoreChoice

TELLS_APART = 0xFFFFFFFF
log = structlog.get_logger()


@cache
def find_period(store: str) -> int:
    """The number of the period in which this store is chosen; higher than those of all before.

    As of the first call in this process. Cost: then a query, a second one in a new period.
    """
    last = StoreChoice.objects.using(GLOBAL_ALIAS).order_by("-id").first()
    if last is None or last.store != store:
        last = StoreChoice.objects.using(GLOBAL_ALIAS).create(store=store)
        log.info("timelines.store_chosen", store=store, period=last.id)
    return int(last.id)


def first_epoch(period: int) -> int:
    """The lowest that builds of this period, or of a later one, may have."""
    return period << 32


def epoch_in(period: int, epoch: int) -> int:
    """The epoch, in a period."""
    return first_epoch(period) | epoch & TELLS_APART
