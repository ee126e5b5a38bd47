"""Makes the store that the setting TIMELINE_STORE names."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from django.conf import settings

from timelines.stores.generation import start_generation
from timelines.stores.interface import TimelineStore
from timelines.stores.overtaken import OvertakenTimelines
from timelines.stores.packed import PackedStore
from timelines.stores.postgres import PostgresStore
from timelines.stores.tiered import TieredStore
from timelines.stores.zset import ZsetStore

DAY_S = 86_400


@cache
def timeline_store() -> TimelineStore:
    """The store of this process. Timelines of earlier generations are not alive in it."""
    name = settings.TIMELINE_STORE
    return STORES[name](start_generation(name))


def _packed(generation: int) -> PackedStore:
    live_s = settings.TIMELINE_LIVE_DAYS * DAY_S
    return PackedStore(settings.TIMELINE_ENTRIES, live_s, generation=generation)


def _zset(generation: int) -> ZsetStore:
    live_s = settings.TIMELINE_LIVE_DAYS * DAY_S
    return ZsetStore(settings.TIMELINE_ENTRIES, live_s, generation)


def _postgres(generation: int) -> PostgresStore:
    days = settings.TIMELINE_LIVE_DAYS
    return PostgresStore(settings.TIMELINE_ENTRIES, days, settings.TIMELINE_COLD_DAYS, generation)


def _tiered(generation: int) -> TieredStore:
    days = settings.TIMELINE_COLD_DAYS
    cold = PostgresStore(settings.TIMELINE_ENTRIES, days, days, generation)
    return TieredStore(_packed(generation), cold)


STORES: Mapping[str, Callable[[int], TimelineStore]] = MappingProxyType(
    {"packed": _packed, "zset": _zset, "postgres": _postgres, "tiered": _tiered}
)
overtaken_timelines = OvertakenTimelines(
    lambda reader_ids: timeline_store().drop_from_redis(reader_ids)
)
