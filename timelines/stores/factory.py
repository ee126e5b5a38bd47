"""Makes the store that the setting TIMELINE_STORE names."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from django.conf import settings

from timelines.stores.cassandra import STATEMENTS, CassandraStore
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
    place = f"{name} cassandra" if settings.CASSANDRA else name
    return STORES[name](start_generation(place))


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
    return TieredStore(_packed(generation), cold_store(generation))


def cold_store(generation: int) -> PostgresStore:
    """The lower one of `tiered`."""
    days = settings.TIMELINE_COLD_DAYS
    options = settings.TIMELINE_ENTRIES, days, days, generation
    return CassandraStore(_cassandra(), *options) if settings.CASSANDRA else PostgresStore(*options)


def _cassandra() -> Any:
    """Without CASSANDRA_URL the driver is not needed."""
    module = import_module("timelines.stores.cassandra_session")
    return module.CassandraSession(
        settings.CASSANDRA, settings.CASSANDRA_TIMEOUT_MS / 1000, STATEMENTS
    )


STORES: Mapping[str, Callable[[int], TimelineStore]] = MappingProxyType(
    {"packed": _packed, "zset": _zset, "postgres": _postgres, "tiered": _tiered}
)
overtaken_timelines = OvertakenTimelines(
    lambda reader_ids: timeline_store().drop_from_redis(reader_ids)
)
