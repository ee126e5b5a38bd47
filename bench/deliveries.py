"""Deliveries a second into full live timelines, by store, against the floor of sorted sets.

Timelines are at any point between one cut and the next: in every turn some are cut, and the bytes
of many are those of one over a long time.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings

from bench.page_reader import page_reader, percentiles_ms
from bench.world import make_reader
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
ROUNDS = 15
# More pushes than there are from cut to cut.
PHASES = 57
FIRST_READER = 1_000_000_000
# Pages of a reader, idle and while others are pushed to, by turns.
START_S, SLICES, SLICE_S = 3.0, 6, 2.0
READERS = range(FIRST_READER, FIRST_READER + TIMELINES)
# A row each, on one machine: fewer are enough.
FEW = READERS[:500]
FAMILIES = {"packed": packed.FAMILY, "zset": zset.FAMILY}
PARTS = [None, "sources", "head"]
SIZE = """
SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('timelines_entry')
"""

Push = Callable[[Entry], object]
Figures = dict[str, list[float]]


def measure() -> dict[str, Any]:
    """One entry into each full timeline, by the floor and each store in turn, so that what else
    the machine does weighs on all alike. Ratios are medians of ratios within a turn."""
    stores = {name: make(0) for name, make in STORES.items() if name != "tiered"}
    pushes: dict[str, Push] = {"floor": _push_floor}
    _fill_floor()
    for name, store in stores.items():
        _fill(store, _readers(name))
        pushes[name] = partial(_push, store, _readers(name))
    rates, sizes = _interleaved(pushes)
    figures = {name: _figures(name, rates) | _spread(sizes[name]) for name in pushes}
    return figures | {"pages_while_pushed": _pages_while(pushes["packed"])}


def _pages_while(push: Push) -> dict[str, Any]:
    """Pages that another process reads while nothing is pushed, then while one process pushes as
    fast as it can, in turns: both see the same machine."""
    idle, busy = [], []
    with page_reader(make_reader(followees=20, posts_each=5).account_id) as pages:
        time.sleep(START_S)
        for turn in range(SLICES):
            idle.append(_slice(lambda: time.sleep(SLICE_S)))
            busy.append(_slice(partial(_push_for, push, turn)))
    calm, rough = (
        percentiles_ms([page for page in pages for a, b in slices if a <= page.at_s < b])
        for slices in (idle, busy)
    )
    return {"idle": calm, "pushed": rough, "p99_of_idle": round(rough["p99"] / calm["p99"], 2)}


def _slice(work: Callable[[], object]) -> tuple[float, float]:
    """When it began and ended."""
    began = time.monotonic()
    work()
    return began, time.monotonic()


def _push_for(push: Push, turn: int) -> None:
    ends = time.monotonic() + SLICE_S
    second = 20_000 + turn * 1_000
    while time.monotonic() < ends:
        push(Entry.of_post(PostId(second, 7, 0)))
        second += 1


def _interleaved(pushes: Mapping[str, Push]) -> tuple[Figures, Figures]:
    """Deliveries a second, and bytes of a timeline, of each turn."""
    rates: Figures = {name: [] for name in pushes}
    sizes: Figures = {name: [] for name in pushes}
    for turn in range(ROUNDS):
        entry = Entry.of_post(PostId(10_000 + turn, 7, 0))
        for name, push in pushes.items():
            started = time.perf_counter()
            push(entry)
            rates[name].append(len(_readers(name)) / (time.perf_counter() - started))
            sizes[name] += _sizes(name)
    return rates, sizes


def _figures(name: str, rates: Figures) -> dict[str, Any]:
    ratios = [ours / floor for ours, floor in zip(rates[name], rates["floor"], strict=True)]
    return {
        "deliveries_per_s": round(statistics.median(rates[name])),
        "of_floor": round(statistics.median(ratios), 2),
    }


def _spread(sizes: Sequence[float]) -> dict[str, Any]:
    mean = round(statistics.mean(sizes))
    return {"bytes_per_full_timeline": mean, "most_bytes": round(max(sizes))}


def _readers(name: str) -> range:
    return FEW if name == "postgres" else READERS


def _sizes(name: str) -> list[float]:
    """As Redis counts it, all keys of one reader, of PHASES; of rows, a part of table and index."""
    if name == "postgres":
        sizes = [fetch_one(alias, SIZE) for alias in settings.SHARD_ALIASES]
        return [sum(int(size[0]) for size in sizes if size) / len(FEW)]
    if name == "floor":
        return [_usage([b"floor:{%d}" % reader]) for reader in READERS[:PHASES]]
    family = FAMILIES[name]
    return [_usage([key(family, one, part) for part in PARTS]) for one in READERS[:PHASES]]


def _usage(keys: list[bytes]) -> int:
    return sum(redis().call("MEMORY", "USAGE", one, "SAMPLES", 0) or 0 for one in keys)


def _fill(store: TimelineStore, readers: range) -> None:
    data = [Entry.of_post(PostId(second, 7, 0)).packed for second in range(ENTRIES + PHASES)]
    for reader in readers:
        store.begin_build(reader, reader)
        held = data[: ENTRIES + reader % PHASES]
        store.lay(reader, reader, LiveTimeline.of(held, 0, 1))


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
