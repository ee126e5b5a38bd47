"""Deliveries a second into live timelines, against the floor of sorted sets on the same Redis."""

import statistics
import time
from functools import partial
from typing import Any

from infra.caching.client import redis
from posts.ids import PostId
from timelines.stores.chosen import timeline_store
from timelines.types import Entry, LiveTimeline

TIMELINES = 5_000
ENTRIES = 450
ROUNDS = 7
FIRST_READER = 1_000_000_000


def measure() -> dict[str, Any]:
    """One entry into each of 5,000 full timelines, floor and store in turn."""
    readers = range(FIRST_READER, FIRST_READER + TIMELINES)
    _fill_store(readers)
    _fill_floor(readers)
    ours, floor = [], []
    for turn in range(ROUNDS):
        entry = Entry.of_post(PostId(10_000 + turn, 7, 0))
        floor.append(_timed(partial(_push_floor, readers, entry)))
        ours.append(_timed(partial(_push_store, readers, entry)))
    ratio = statistics.median(f / o for o, f in zip(ours, floor, strict=True))
    size = redis().call("MEMORY", "USAGE", b"timelines.home:v1:{%d}" % FIRST_READER)
    return {
        "deliveries_per_s": TIMELINES / statistics.median(ours),
        "zset_floor_per_s": TIMELINES / statistics.median(floor),
        "ratio": ratio,
        "bytes_per_full_timeline": size,
    }


def _fill_store(readers: range) -> None:
    packed = [Entry.of_post(PostId(second, 7, 0)).packed for second in range(ENTRIES)]
    for reader in readers:
        timeline_store().begin_build(reader, reader)
        timeline_store().lay(reader, reader, LiveTimeline.of(packed, 0, 1))


def _fill_floor(readers: range) -> None:
    members = [item for second in range(ENTRIES) for item in (second, f"{second:014d}")]
    for start in range(0, len(readers), 50):
        batch = readers[start : start + 50]
        redis().run([("ZADD", b"floor:{%d}" % reader, *members) for reader in batch])


def _push_store(readers: range, entry: Entry) -> None:
    timeline_store().push({reader: [entry] for reader in readers})


def _push_floor(readers: range, entry: Entry) -> None:
    """ZADD and ZREMRANGEBYRANK per timeline, in one pipeline."""
    member = entry.event.public
    commands = []
    for reader in readers:
        key = b"floor:{%d}" % reader
        commands.append(("ZADD", key, entry.event.second, member))
        commands.append(("ZREMRANGEBYRANK", key, 0, -ENTRIES - 1))
    redis().run(commands)


def _timed(call: Any) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
