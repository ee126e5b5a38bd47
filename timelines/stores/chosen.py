"""The store this installation uses."""

from functools import cache

from timelines.stores.interface import TimelineStore
from timelines.stores.packed import packed_store


@cache
def timeline_store() -> TimelineStore:
    return packed_store()
