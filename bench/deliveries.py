"""Deliveries a second into full live timelines, by store, against the floor of sorted sets."""

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.conf import settings

from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.sharding.sql import fetch_one
from posts.ids import PostId
from timelines.stores import packed, zset
from timelines.stores.chosen import STORES
from timelines.stores.interface import TimelineStore
from timelines.types import Entry, LiveTimeline

TIMELINES = 2_000
ENTRIES = 450
ROUNDS = 7
FIRST_READER = 1_000_000_000
READERS = range(FIRST_READER, FIRST_READER + TIMELINES)
# A row each, on one machine: fewer are enough.
FEW = READERS[:500]
FAMILIES = {"packed": packed.FAMILY, "zset": zset.FAMILY}
PARTS = [None, "sources", "head"]
SIZE = """
SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('timelines_entry')
"""

Push = Callable[[Entry], object]


def measure() -> dict[str, Any]:
    """One entry into each full timeline, by the floor and each store in turn, so that what else
    the machine does weighs on all alike. Ratios are medians of ratios within a turn."""
    stores = {name: make() for name, make in STORES.items() if name != "tiered"}
    pushes: dict[str, Push] = {"floor": _push_floor}
    _fill_floor()
    for name, store in stores.items():
        _fill(store, _readers(name))
        pushes[name] = partial(_push, store, _readers(name))
    rates = _interleaved(pushes)
    return {name: _figures(name, rates) for name in pushes}


def _interleaved(pushes: Mapping[str, Push]) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {name: [] for name in pushes}
    for turn in range(ROUNDS):
        entry = Entry.of_post(PostId(10_000 + turn, 7, 0))
        for name, push in pushes.items():
            started = time.perf_counter()
            push(entry)
            rates[name].append(len(_readers(name)) / (time.perf_counter() - started))
    return rates


def _figures(name: str, rates: Mapping[str, list[float]]) -> dict[str, Any]:
    ratios = [ours / floor for ours, floor in zip(rates[name], rates["floor"], strict=True)]
    return {
        "deliveries_per_s": round(statistics.median(rates[name])),
        "of_floor": round(statistics.median(ratios), 2),
        "bytes_per_full_timeline": _size(name),
    }


def _readers(name: str) -> range:
    return FEW if name == "postgres" else READERS


def _size(name: str) -> int:
    """As Redis counts it, all keys of one reader; of rows, their part of table and index."""
    if name == "postgres":
        sizes = [fetch_one(alias, SIZE) for alias in settings.SHARD_ALIASES]
        return sum(int(size[0]) for size in sizes if size) // len(FEW)
    if name == "floor":
        return _usage([b"floor:{%d}" % FIRST_READER])
    return _usage([key(FAMILIES[name], FIRST_READER, part) for part in PARTS])


def _usage(keys: list[bytes]) -> int:
    return sum(redis().call("MEMORY", "USAGE", one, "SAMPLES", 0) or 0 for one in keys)


def _fill(store: TimelineStore, readers: range) -> None:
    data = [Entry.of_post(PostId(second, 7, 0)).packed for second in range(ENTRIES)]
    for reader in readers:
        store.begin_build(reader, reader)
        store.lay(reader, reader, LiveTimeline.of(data, 0, 1))


def _push(store: TimelineStore, readers: range, entry: Entry) -> None:
    store.push(dict.fromkeys(readers, (entry,)))


def _fill_floor() -> None:
    members = [item for second in range(ENTRIES) for item in (second, f"{second:014d}")]
    for start in range(0, len(READERS), 50):
        batch = READERS[start : start + 50]
        redis().run([("ZADD", b"floor:{%d}" % reader, *members) for reader in batch])


def _push_floor(entry: Entry) -> None:
    """ZADD and ZREMRANGEBYRANK per timeline, in one pipeline."""
    member = entry.event.public
    commands: list[Command] = []
    for reader in READERS:
        floor = b"floor:{%d}" % reader
        commands.append(("ZADD", floor, entry.event.second, member))
        commands.append(("ZREMRANGEBYRANK", floor, 0, -ENTRIES - 1))
    redis().run(commands)
