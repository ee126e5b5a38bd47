"""Deliveries a second into full live timelines by store, next to a floor of sorted sets."""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from hiredis import pack_command

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.sql import fetch_one
from lab.bench.full_timelines import ENTRIES, PHASES, READERS, fill, push
from lab.bench.pushed_pages import measure_pages
from lab.bench.store_figures import RedisFigures
from posts.ids import PostId
from timelines.models import TimelineEntry
from timelines.stores import packed, zset
from timelines.stores.factory import STORES, cold_store
from timelines.types import Entry

ROUNDS = 15
# Rows are slow, so they get fewer timelines.
FEW = READERS[:500]
ROWS = {"postgres", "cassandra"}
FAMILIES = {"packed": packed.FAMILY, "zset": zset.FAMILY}
PARTS = [None, "sources", "head"]
SIZE = """
SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(%s)
"""

Push = Callable[[], object]
# Prepares a push. Its time is not counted.
Prepare = Callable[[Entry], Push]
Figures = dict[str, list[float]]


def measure() -> dict[str, Any]:
    """Pushes one entry into each full timeline, with the floor and each store in turn.

    So other work of the machine affects all of them alike. Ratios are medians of the turns' ratios.
    """
    stores = {name: make(0) for name, make in STORES.items() if name != "tiered"}
    if settings.CASSANDRA:
        stores["cassandra"] = cold_store(0)
    prepares: dict[str, Prepare] = {"floor": Floor().prepare}
    for name, store in stores.items():
        fill(store, _readers(name))
        prepares[name] = partial(partial, push, store, _readers(name))
    rates, costs, sizes = _interleaved(prepares)
    figures = {name: _figures(name, rates, costs) | _spread(sizes[name]) for name in prepares}
    return figures | {"pages_while_pushed": measure_pages()}


class Floor:
    """The best that Redis can do: ZADD and ZREMRANGEBYRANK per timeline in one pipeline.

    The commands are encoded before, and the replies are only compared.
    """

    def __init__(self) -> None:
        connection = redis().open_connection()
        connection.connect()
        self._connection, self._socket = connection, connection._sock
        self._keys = [b"floor:{%d}" % reader for reader in READERS]
        members = [item for second in range(ENTRIES) for item in (second, f"{second:014d}")]
        for start in range(0, len(self._keys), 50):
            redis().run([("ZADD", name, *members) for name in self._keys[start : start + 50]])

    def prepare(self, entry: Entry) -> Push:
        return partial(self._push, b"".join(self._encode(entry)))

    def _encode(self, entry: Entry) -> Iterator[bytes]:
        for name in self._keys:
            yield pack_command(("ZADD", name, entry.event.second, entry.event.base36))
            yield pack_command(("ZREMRANGEBYRANK", name, 0, -ENTRIES - 1))

    def _push(self, encoded: bytes) -> None:
        """Adds one entry to each set and removes one: all replies are 1."""
        sock, replies, expected = self._socket, b"", b":1\r\n" * (2 * len(self._keys))
        sock.sendall(encoded)
        while len(replies) < len(expected):
            replies += sock.recv(1 << 16)
        if replies != expected:
            raise ValueError("The floor's sorted sets are not full")


def _interleaved(prepares: Mapping[str, Prepare]) -> tuple[Figures, Figures, Figures]:
    """For each turn: deliveries a second, µs of Redis CPU a delivery, bytes of a timeline."""
    rates, costs, sizes = ({name: [] for name in prepares} for _ in range(3))
    for turn in range(ROUNDS):
        entry = Entry.of_post(PostId(10_000 + turn, 7, 0))
        for name, prepare in prepares.items():
            ready, count, before = prepare(entry), len(_readers(name)), RedisFigures.read()
            started = time.perf_counter()
            ready()
            rates[name].append(count / (time.perf_counter() - started))
            costs[name].append(RedisFigures.read().since(before).cpu_s / count * 1e6)
            sizes[name] += _sizes(name)
    return rates, costs, sizes


def _figures(name: str, rates: Figures, costs: Figures) -> dict[str, Any]:
    ratios = [ours / floor for ours, floor in zip(rates[name], rates["floor"], strict=True)]
    return {
        "deliveries_per_s": round(statistics.median(rates[name])),
        "of_floor": round(statistics.median(ratios), 2),
        "redis_us": round(statistics.median(costs[name]), 2),
    }


def _spread(sizes: Sequence[float]) -> dict[str, Any]:
    if not sizes:
        return {}
    mean = round(statistics.mean(sizes))
    return {"bytes_per_full_timeline": mean, "most_bytes": round(max(sizes))}


def _readers(name: str) -> range:
    return FEW if name in ROWS else READERS


def _sizes(name: str) -> list[float]:
    """Bytes of some timelines: all Redis keys of a reader, or a share of table and indexes."""
    if name == "postgres":
        sizes = [
            fetch_one(alias, SIZE, (TimelineEntry._meta.db_table,))
            for alias in settings.SHARD_ALIASES
        ]
        return [sum(int(size[0]) for size in sizes if size) / len(FEW)]
    if name == "cassandra":  # its own tools say it
        return []
    if name == "floor":
        return [_usage([b"floor:{%d}" % reader]) for reader in READERS[:PHASES]]
    family = FAMILIES[name]
    return [_usage([key(family, reader, part) for part in PARTS]) for reader in READERS[:PHASES]]


def _usage(keys: list[bytes]) -> int:
    return sum(redis().call("MEMORY", "USAGE", name, "SAMPLES", 0) or 0 for name in keys)
