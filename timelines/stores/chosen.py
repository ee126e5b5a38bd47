"""The store this installation uses, by the setting TIMELINE_STORE."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from django.conf import settings

from timelines.stores.interface import TimelineStore
from timelines.stores.packed import PackedStore
from timelines.stores.postgres import PostgresStore
from timelines.stores.tiered import TieredStore
from timelines.stores.zset import ZsetStore

DAY_S = 86_400


@cache
def timeline_store() -> TimelineStore:
    return STORES[settings.TIMELINE_STORE]()


def _packed() -> PackedStore:
    return PackedStore(settings.TIMELINE_ENTRIES, settings.TIMELINE_LIVE_DAYS * DAY_S)


def _zset() -> ZsetStore:
    return ZsetStore(settings.TIMELINE_ENTRIES, settings.TIMELINE_LIVE_DAYS * DAY_S)


def _postgres() -> PostgresStore:
    days = settings.TIMELINE_LIVE_DAYS
    return PostgresStore(settings.TIMELINE_ENTRIES, days, settings.TIMELINE_COLD_DAYS)


def _tiered() -> TieredStore:
    days = settings.TIMELINE_COLD_DAYS
    return TieredStore(_packed(), PostgresStore(settings.TIMELINE_ENTRIES, days, days))


STORES: Mapping[str, Callable[[], TimelineStore]] = MappingProxyType(
    {"packed": _packed, "zset": _zset, "postgres": _postgres, "tiered": _tiered}
)
